/**
 * English stems (recall.md R44): Porter2 of a token of letters a–z, which leaves one and two letters alone; any
 * other token is its own stem, as the rules of English say nothing about it.
 */
import { stem } from "porter2";

/** The stem of a folded token. */
export const stemFromToken = (token: string): string => (/^[a-z]+$/.test(token) ? stem(token) : token);
