/** Limits of the daemon as a whole (daemon.md D14). A domain's own limits are in its `model.ts`. */

/** Largest request, after inflating, in bytes. */
export const maxRequestBytes = 4 * 1024 * 1024;
/** Largest answer in bytes. */
export const maxResponseBytes = 4 * 1024 * 1024;
/** Largest request header block in bytes. */
export const maxHeaderBytes = 16 * 1024;
/** Longest that a unary call may take, in milliseconds; a longer deadline is cut to it. */
export const maxUnaryTimeoutMs = 60_000;
/** Open connections at once. */
export const maxConnections = 1_000;
/** Streams at once on one HTTP/2 connection. */
export const maxStreams = 100;
/** Longest page token in bytes (memory.md M18). */
export const maxPageTokenBytes = 1_024;
