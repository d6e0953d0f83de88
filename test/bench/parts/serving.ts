/**
 * The platform's limit, the storage's limit and the daemon, side by side: each round measures every cell
 * once, so that what else runs on the machine meets all of them alike.
 */
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { type Daemon, startDaemon } from "../daemon.js";
import { type PlatformPorts, type StorageRates, type StorageWork, storageWork } from "../jobs.js";
import { type LoadJob, type OperationName, operations, type Wire, wires } from "../load/job.js";
import { type MemoryInUse, memoryOf, processorMsOf } from "../machine.js";
import type { Options } from "../options.js";
import { say } from "../output.js";
import { runScript, startWorker, type Worker } from "../processes.js";
import { best, type Rate } from "../statistics.js";
import { figure, percent, type Section } from "../table.js";

type Cell = {
  readonly name: string;
  readonly wire: string;
  readonly clients: number;
  readonly target: LoadJob["target"];
  /** Who answers. */
  readonly pid: number;
  /** What one more client asks all the while. */
  readonly beside?: LoadJob["target"];
};

type Served = Rate & { readonly serverShare: number | undefined };

export type Serving = { readonly sections: readonly Section[]; readonly memory?: MemoryInUse };

type LoadGenerator = Worker<LoadJob, Rate>;

/** The storage's way of doing what an operation does. */
const storageWorkOf: Readonly<Record<OperationName, StorageWork>> = {
  UpdateMemory: "one record written, one fsync",
  "ListMemories of 100": "100 records read",
  "ListMemories of 10,000": "10,000 records read",
  GetCursor: "one text read",
};

const emptyName = "empty answer";
const emptyWires = { http1: "node:http", http2: "node:http2" } as const;
const emptyWireOf = (wire: Wire): string => (wire === "gRPC" ? emptyWires.http2 : emptyWires.http1);

function emptyCells(ports: PlatformPorts, pid: number, { clients }: Options): readonly Cell[] {
  const cellsOf = (wire: string, port: number, isHttp2: boolean): readonly Cell[] =>
    clients.map((count) => ({
      name: emptyName,
      wire,
      clients: count,
      pid,
      target: { kind: "empty", port, isHttp2 },
    }));
  return [...cellsOf(emptyWires.http1, ports.http1, false), ...cellsOf(emptyWires.http2, ports.http2, true)];
}

function daemonCells({ pid, port, token }: Daemon, { clients }: Options): readonly Cell[] {
  return operations.flatMap((operation) =>
    wires.flatMap((wire) =>
      clients.map((count) => ({
        name: operation,
        wire,
        clients: count,
        pid,
        target: { kind: "daemon", port, token, wire, operation } as const,
      })),
    ),
  );
}

/** What one long answer costs those who ask for little meanwhile. */
function besideCells({ pid, port, token }: Daemon): readonly Cell[] {
  const targetOf = (wire: Wire, operation: OperationName) =>
    ({ kind: "daemon", port, token, wire, operation }) as const;
  return wires.map((wire) => ({
    name: "GetCursor beside a listing",
    wire,
    clients: 1,
    pid,
    target: targetOf(wire, "GetCursor"),
    beside: targetOf(wire, "ListMemories of 10,000"),
  }));
}

/** By then the other client has begun. */
const besideWarmUpMs = 1_000;

type Generators = { readonly main: LoadGenerator; readonly beside: LoadGenerator };

async function askBoth({ main, beside }: Generators, cell: Cell, options: Options): Promise<Rate> {
  const { target, clients } = cell;
  const { warmUpMs, measureMs } = options;
  if (cell.beside === undefined) return main.ask({ target, clients, warmUpMs, measureMs });
  const longer = { warmUpMs: besideWarmUpMs, measureMs: 2 * measureMs };
  const other = beside.ask({ target: cell.beside, clients: 1, ...longer });
  const [rate] = await Promise.all([
    main.ask({ target, clients, warmUpMs: besideWarmUpMs, measureMs }),
    other,
  ]);
  return rate;
}

async function measure(generators: Generators, cell: Cell, options: Options): Promise<Served> {
  const processorBeforeMs = processorMsOf(cell.pid);
  const startedMs = performance.now();
  const rate = await askBoth(generators, cell, options);
  const elapsedMs = performance.now() - startedMs;
  const processorMs = processorMsOf(cell.pid);
  const serverShare =
    processorBeforeMs === undefined || processorMs === undefined
      ? undefined
      : (processorMs - processorBeforeMs) / elapsedMs;
  return { ...rate, serverShare };
}

/** What takes longer than this needs no third round to be told from what else the machine does. */
const longRoundMs = 8_000;

const keyOf = ({ name, wire, clients }: Pick<Cell, "name" | "wire" | "clients">): string =>
  [name, wire, clients].join("|");

function servedSection(
  cells: readonly Cell[],
  found: ReadonlyMap<string, Served>,
  options: Options,
): Section {
  const ofEmpty = (cell: Cell, { perSecond }: Served): string => {
    if (cell.target.kind === "empty") return "–";
    const limit = found.get(keyOf({ ...cell, name: emptyName, wire: emptyWireOf(cell.target.wire) }));
    return limit === undefined ? "–" : (perSecond / limit.perSecond).toPrecision(2);
  };
  const rows = cells.map((cell) => {
    const served = found.get(keyOf(cell)) as Served;
    return [
      cell.name,
      cell.wire,
      String(cell.clients),
      figure(served.perSecond),
      figure(served.p50Ms),
      figure(served.p95Ms),
      figure(served.p99Ms),
      ofEmpty(cell, served),
      percent(served.serverShare),
      percent(served.processorShare),
    ];
  });
  return {
    title: "Calls, beside an empty answer of the platform",
    notes: [
      `the fastest of ${options.rounds} interleaved rounds, or of two where one takes longer than ${longRoundMs / 1_000} s; each client has a connection of its own, kept open, and asks again when it was answered`,
      "of empty: rate by rate of an empty answer of node:http (gRPC: node:http2) with as many clients",
      "processor shares are of one core, for the server and for the load generator",
      "a listing of 10,000 is two calls, since a page ends at 2 MiB; beside a listing: another client lists them all the while",
    ],
    table: {
      head: [
        "call",
        "wire",
        "clients",
        "a second",
        "p50 ms",
        "p95 ms",
        "p99 ms",
        "of empty",
        "server",
        "load",
      ],
      rows,
    },
  };
}

function storageSection(rates: StorageRates, found: ReadonlyMap<string, Served>, options: Options): Section {
  const fastest = (operation: OperationName): number =>
    Math.max(
      ...wires.flatMap((wire) =>
        options.clients.map(
          (clients) => found.get(keyOf({ name: operation, wire, clients }))?.perSecond ?? Number.NaN,
        ),
      ),
    );
  const daemonOf = (work: StorageWork): readonly string[] => {
    const operation = operations.find((name) => storageWorkOf[name] === work);
    const perSecond = operation === undefined ? Number.NaN : fastest(operation);
    return Number.isNaN(perSecond)
      ? ["–", "–"]
      : [figure(perSecond), (perSecond / rates[work].perSecond).toPrecision(2)];
  };
  return {
    title: "The storage's limit: bare statements, beside the daemon's fastest wire",
    notes: ["one table, prepared statements, one after the other, WAL with synchronous = FULL"],
    table: {
      head: ["work", "a second", "p50 ms", "p95 ms", "p99 ms", "daemon", "of the limit"],
      rows: storageWork.map((work) => {
        const { perSecond, p50Ms, p95Ms, p99Ms } = rates[work];
        return [work, figure(perSecond), figure(p50Ms), figure(p95Ms), figure(p99Ms), ...daemonOf(work)];
      }),
    },
  };
}

function bestStorage(rounds: readonly StorageRates[]): StorageRates {
  const entries = storageWork.map((work) => [work, best(rounds.map((round) => round[work]))] as const);
  return Object.fromEntries(entries) as StorageRates;
}

/** `databaseFolder` holds the large database, which no daemon has open. */
export async function measureServing(options: Options, databaseFolder: string): Promise<Serving> {
  const isAsked = (part: Options["parts"][number]): boolean => options.parts.includes(part);
  const generators = {
    main: startWorker<LoadJob, Rate>("load"),
    beside: startWorker<LoadJob, Rate>("load"),
  };
  const platform = startWorker<null, PlatformPorts>("platform");
  const storageFolder = mkdtempSync(join(options.folder, "storage-"));
  const daemon = isAsked("daemon") ? await startDaemon(databaseFolder) : undefined;
  try {
    const ports = await platform.ask(null);
    const cells = [
      ...(isAsked("platform") ? emptyCells(ports, platform.pid, options) : []),
      ...(daemon === undefined ? [] : [...daemonCells(daemon, options), ...besideCells(daemon)]),
    ];
    const served = cells.map((cell) => ({ cell, rounds: [] as Served[], longestMs: 0 }));
    const stored: StorageRates[] = [];
    for (let round = 1; round <= options.rounds; round += 1) {
      if (isAsked("storage")) {
        say(`round ${round} of ${options.rounds}: bare statements`);
        const { warmUpMs, measureMs } = options;
        stored.push(await runScript("storage", { folder: storageFolder, warmUpMs, measureMs }));
      }
      for (const entry of served) {
        const { cell, rounds, longestMs } = entry;
        if (round > 2 && longestMs > longRoundMs) continue;
        const startedMs = performance.now();
        say(`round ${round} of ${options.rounds}: ${cell.name}, ${cell.wire}, ${cell.clients} clients`);
        rounds.push(await measure(generators, cell, options));
        entry.longestMs = Math.max(longestMs, performance.now() - startedMs);
      }
    }
    const found = new Map(served.map(({ cell, rounds }) => [keyOf(cell), best(rounds)]));
    return {
      sections: [
        ...(stored.length > 0 ? [storageSection(bestStorage(stored), found, options)] : []),
        ...(cells.length > 0 ? [servedSection(cells, found, options)] : []),
      ],
      ...(daemon === undefined ? {} : { memory: memoryOf(daemon.pid) }),
    };
  } finally {
    await Promise.all([generators.main.stop(), generators.beside.stop(), platform.stop(), daemon?.stop()]);
  }
}
