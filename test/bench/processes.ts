/**
 * Processes of the benchmark: what is measured, what measures and what asks run apart, so that none waits
 * for another's event loop.
 */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

const loader = ["--import", "tsx"];

const scriptFile = (name: string): string => fileURLToPath(new URL(`processes/${name}.ts`, import.meta.url));

/** Our variables without memoryd's, which would set up the daemon differently. */
export const cleanVariables = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("MEMORYD_")));

const running = new Map<ChildProcess, () => void>();

/** Notes a process that is to end with the benchmark, and how it is told to. */
export function endWithUs(child: ChildProcess, end: () => void): void {
  running.set(child, end);
  child.once("exit", () => running.delete(child));
}

/** Ends what still runs, and resolves when it has ended: until then it writes into its folder. */
export async function endProcesses(): Promise<void> {
  const ends = [...running].map(([child, end]) => {
    end();
    return new Promise<void>((resolve) => child.once("exit", () => resolve()));
  });
  await Promise.all(ends);
}

/** Runs a script to its end, behind a wrapping command if there is one; answers the JSON that it printed. */
export function runScript<Answer>(
  name: string,
  job: unknown,
  wrapper: readonly string[] = [],
): Promise<Answer> {
  const node = [process.execPath, ...loader, scriptFile(name), JSON.stringify(job)];
  const [command, ...args] = [...wrapper, ...node] as [string, ...string[]];
  const child = spawn(command, args, {
    cwd: root,
    env: cleanVariables(),
    stdio: ["pipe", "pipe", "inherit"],
  });
  endWithUs(child, () => child.stdin.end());
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      if (code === 0) resolve(JSON.parse(text) as Answer);
      else reject(new Error(`${name} ended with ${signal ?? `exit code ${code}`}`));
    });
  });
}

/** The other side of {@link runScript}. */
export async function answerJob<Job, Answer>(work: (job: Job) => Promise<Answer>): Promise<void> {
  // Ends when the benchmark was stopped, also behind a wrapper that would hand no signal on.
  process.stdin.once("end", () => process.exit(1)).resume();
  const answer = await work(JSON.parse(process.argv[2] ?? "null") as Job);
  process.stdout.write(JSON.stringify(answer));
  process.stdin.destroy();
}

type Reply = { readonly answer: unknown } | { readonly fault: string };

export type Worker<Question, Answer> = {
  readonly pid: number;
  /** One question at a time. */
  readonly ask: (question: Question) => Promise<Answer>;
  readonly stop: () => Promise<void>;
};

/** Starts a script that answers questions until it is stopped. */
export function startWorker<Question, Answer>(name: string): Worker<Question, Answer> {
  const child = fork(scriptFile(name), { cwd: root, env: cleanVariables(), execArgv: loader });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const end = (): void => {
    if (child.connected) child.disconnect();
  };
  endWithUs(child, end);
  return {
    pid: child.pid ?? 0,
    ask: (question) =>
      new Promise((resolve, reject) => {
        const fail = (): void => reject(new Error(`${name} ended before it answered`));
        child.once("exit", fail);
        child.once("message", (reply: Reply) => {
          child.off("exit", fail);
          if ("fault" in reply) reject(new Error(`${name}: ${reply.fault}`));
          else resolve(reply.answer as Answer);
        });
        child.send({ question });
      }),
    stop: () => {
      end();
      return ended;
    },
  };
}

/** The other side of {@link startWorker}. */
export function answerQuestions<Question, Answer>(work: (question: Question) => Promise<Answer>): void {
  process.on("message", async ({ question }: { question: Question }) => {
    const reply = (value: Reply): void => void process.send?.(value);
    try {
      reply({ answer: await work(question) });
    } catch (error) {
      reply({ fault: error instanceof Error ? error.message : String(error) });
    }
  });
  process.on("disconnect", () => process.exit(0));
}
