/** The one small table of these tests, apart from their support because other processes make it too. */
import type { Migration } from "../../src/db/migrate.js";

export const itemsStep: Migration = {
  id: "items/0001-items",
  sqlite: "create table items (name text primary key, content text not null) strict;",
};
