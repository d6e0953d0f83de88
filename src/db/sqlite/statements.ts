/** Statements prepared once a connection: the writer has its set, each reader of a snapshot has its own. */
import type { Connection } from "./open.js";

/**
 * A function from a connection to its prepared statements. `prepare` runs at the first use on a connection;
 * the set goes when the connection goes.
 */
export function createStatements<T>(prepare: (connection: Connection) => T): (connection: Connection) => T {
  const prepared = new WeakMap<Connection, { readonly statements: T }>();
  return (connection) => {
    const known = prepared.get(connection);
    if (known !== undefined) return known.statements;
    const statements = prepare(connection);
    prepared.set(connection, { statements });
    return statements;
  };
}
