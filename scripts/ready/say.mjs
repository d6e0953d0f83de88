/** What the set-up tells the person who waits: on stderr, because `npm start -- --json` promises stdout to one line. */

const prefix = "memoryd: ";

export function say(text) {
  process.stderr.write(`${prefix}${text}\n`);
}

/** Says why and ends. */
export function fail(text, exitCode) {
  say(text);
  process.exit(exitCode === undefined ? 1 : exitCode);
}

/** On a terminal one line that is written over; elsewhere a line now and then. */
export function sayProgress(text, elapsedSeconds) {
  if (process.stderr.isTTY) process.stderr.write(`\r${prefix}${text}, ${elapsedSeconds} s `);
  else if (elapsedSeconds > 0 && elapsedSeconds % 15 === 0) say(`${text}, ${elapsedSeconds} s`);
}

export function clearProgress() {
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
}
