/** What the load generator is asked to do. */

/** How a call travels: two of Connect over HTTP/1.1, and gRPC over cleartext HTTP/2. */
export const wires = ["Connect JSON", "Connect binary", "gRPC"] as const;
export type Wire = (typeof wires)[number];

export const operations = [
  "UpdateMemory",
  "ListMemories of 100",
  "ListMemories of 10,000",
  "GetCursor",
] as const;
export type OperationName = (typeof operations)[number];

/** The platform's limit: a server that answers `{}` and does nothing else. */
export type EmptyTarget = { readonly kind: "empty"; readonly port: number; readonly isHttp2: boolean };

export type DaemonTarget = {
  readonly kind: "daemon";
  readonly port: number;
  readonly token: string;
  readonly wire: Wire;
  readonly operation: OperationName;
};

export type LoadJob = {
  readonly target: EmptyTarget | DaemonTarget;
  /** Each has a connection of its own, kept open. */
  readonly clients: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
};
