#!/usr/bin/env node
/** The program: arguments to the command line, its exit code to the system. */
import { runCli } from "./cli/run.js";

process.exit(await runCli(process.argv.slice(2)));
