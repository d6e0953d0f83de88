/** Where the benchmark speaks: results on stdout, how far it is on stderr. */

export const print = (text: string): void => void process.stdout.write(`${text}\n`);

export const say = (text: string): void => void process.stderr.write(`bench: ${text}\n`);
