/**
 * Loaded by Node before memoryd in the tests of a full disk: told so by a message, it lets the database grow no
 * further, and again as far as it likes. SQLite then fails exactly as when the disk has no page left for it.
 */
import Database from "better-sqlite3";

const unlimitedPages = 4_294_967_294;

let writer;
const { pragma } = Database.prototype;
Database.prototype.pragma = function (source, options) {
  // The connection that is made durable is the one that writes.
  if (source.startsWith("synchronous")) writer = this;
  return pragma.call(this, source, options);
};

process.on("message", (message) => {
  // One page is the least that can be asked for; SQLite takes it as "no more than there are".
  const pages = message === "full" ? 1 : unlimitedPages;
  pragma.call(writer, `max_page_count = ${pages}`);
  process.send(message);
});
// Being listened to must not keep a daemon alive that has stopped.
process.channel.unref();
