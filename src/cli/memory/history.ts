/** What the commands on history share: all revisions, newest first, and how a person reads one. */
import type { RevisionMessage } from "../../client/record-json.js";
import { invalidArgument } from "../../kernel/errors.js";
import { changeKinds } from "../../memory/schema.js";
import { visibleLine } from "../visible.js";
import type { RecordsClient } from "./records.js";

const kindNames = new Map<number, string>(Object.entries(changeKinds).map(([name, kind]) => [kind, name]));

export const kindText = (kind: number): string => kindNames.get(kind) ?? `kind ${kind}`;

/** `ana`, or `ana/coder` where an agent acted. */
export function writerText(writer: { readonly user: string; readonly agent: string } | undefined): string {
  const { user = "", agent = "" } = writer ?? {};
  return visibleLine(agent === "" ? user : `${user}/${agent}`);
}

/** The revisions of a record, page by page as they are asked for. */
export async function* revisionsOf(records: RecordsClient, name: string): AsyncGenerator<RevisionMessage> {
  let pageToken = "";
  do {
    const page = await records.listRecordRevisions({ name, pageSize: 100, pageToken });
    yield* page.revisions;
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}

const positionForm = /^[1-9]\d{0,15}$/;

/** The revision as it was typed, refused before anybody is asked. */
export function revisionFrom(text: string): bigint {
  if (positionForm.test(text)) return BigInt(text);
  const description = "must be a number that memoryd memory log shows";
  throw invalidArgument([{ field: "REVISION", description }]);
}
