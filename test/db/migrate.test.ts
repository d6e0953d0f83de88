/** Which migrations are pending, and which databases are refused: the table of `db/migrate.ts`. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type AppliedMigration,
  type MigrationStep,
  migrationChecksum,
  pendingMigrations,
} from "../../src/db/migrate.js";
import { isMemorydError } from "../../src/kernel/errors.js";

const step = (id: string, sql = `-- ${id}`): MigrationStep => ({ id, sql });

/** The rows of a database in which these steps were applied, in this order. */
const appliedFrom = (steps: readonly MigrationStep[], version = "1.2.0"): AppliedMigration[] =>
  steps.map(({ id, sql }, index) => ({
    position: index + 1,
    id,
    checksum: migrationChecksum(sql),
    version,
  }));

const reasonOf = (applied: readonly AppliedMigration[], wanted: readonly MigrationStep[]): string => {
  try {
    pendingMigrations(applied, wanted);
  } catch (error) {
    if (isMemorydError(error) && error.code === "failed_precondition") return error.reason;
    throw error;
  }
  return "accepted";
};

const [a1, a2, a3, b1, b2] = ["a/0001", "a/0002", "a/0003", "b/0001", "b/0002"].map((id) => step(id)) as [
  MigrationStep,
  MigrationStep,
  MigrationStep,
  MigrationStep,
  MigrationStep,
];
const wanted = [a1, a2, a3, b1, b2];

describe("what is pending", () => {
  const cases: readonly [string, readonly MigrationStep[], readonly MigrationStep[]][] = [
    ["everything in a new database", [], wanted],
    ["nothing when all is applied", wanted, []],
    ["the rest of each domain", [a1, b1], [a2, a3, b2]],
    ["a domain that came later", [a1, a2, a3], [b1, b2]],
    ["nothing, in whatever order the domains went", [b1, a1, a2, b2, a3], []],
  ];
  test.each(cases)("%s", (_, done, pending) => {
    expect(pendingMigrations(appliedFrom(done), wanted).map(({ id }) => id)).toEqual(
      pending.map(({ id }) => id),
    );
  });

  test("pending steps go on where the positions ended", () => {
    expect(pendingMigrations(appliedFrom([a1, b1]), wanted)).toEqual([
      { ...a2, position: 3, checksum: migrationChecksum(a2.sql) },
      { ...a3, position: 4, checksum: migrationChecksum(a3.sql) },
      { ...b2, position: 5, checksum: migrationChecksum(b2.sql) },
    ]);
  });
});

describe("what is refused", () => {
  const cases: readonly [string, readonly AppliedMigration[], string][] = [
    ["a later step of a known domain", appliedFrom([a1, step("a/0009")]), "DATABASE_NEWER"],
    ["a step of an unknown domain", appliedFrom([a1, step("c/0001")]), "DATABASE_NEWER"],
    ["an edited step", appliedFrom([a1, step(a2.id, "-- another text")]), "MIGRATION_EDITED"],
    ["two steps in another order", appliedFrom([a2, a1]), "MIGRATION_REORDERED"],
    ["a gap before a later step", appliedFrom([a1, a3]), "MIGRATION_MISSING"],
    ["a domain without its first step", appliedFrom([a1, b2]), "MIGRATION_MISSING"],
    ["a lost row", appliedFrom([a1, a2, b1]).filter(({ id }) => id !== a2.id), "MIGRATION_MISSING"],
  ];
  test.each(cases)("%s", (_, applied, reason) => {
    expect(reasonOf(applied, wanted)).toBe(reason);
  });

  test("a newer database names the version that made it", () => {
    const applied = [...appliedFrom([a1], "1.0.0"), { ...appliedFrom([a1, step("a/9")], "3.1.4")[1]! }];
    expect(() => pendingMigrations(applied, wanted)).toThrow(/memoryd 3\.1\.4/);
  });
});

describe("for any lists of any domains", () => {
  const lists = fc
    .array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 })
    .map((sizes) =>
      sizes.map((size, domain) => Array.from({ length: size }, (_, index) => step(`d${domain}/${index}`))),
    );

  /** Lists, and how far and in which mixture of domains a database has come. */
  const histories = lists.chain((domains) =>
    fc
      .tuple(
        fc.tuple(...domains.map((steps) => fc.integer({ min: 0, max: steps.length }))),
        fc.infiniteStream(fc.nat()),
      )
      .map(([counts, choices]) => {
        const left = domains.map((steps, index) => steps.slice(0, counts[index]));
        const done: MigrationStep[] = [];
        for (;;) {
          const open = left.filter((steps) => steps.length > 0);
          if (open.length === 0) return { all: domains.flat(), done };
          done.push(open[choices.next().value! % open.length]!.shift()!);
        }
      }),
  );

  test("pending and applied together are exactly the wanted steps, and then nothing is pending", () => {
    fc.assert(
      fc.property(histories, ({ all, done }) => {
        const pending = pendingMigrations(appliedFrom(done), all);
        const after = [...done, ...pending];
        expect(new Set(after.map(({ id }) => id))).toEqual(new Set(all.map(({ id }) => id)));
        expect(after).toHaveLength(all.length);
        expect(pending.map(({ position }) => position)).toEqual(pending.map((_, at) => done.length + at + 1));
        expect(pendingMigrations(appliedFrom(after), all)).toEqual([]);
      }),
    );
  });

  test("the order in which the rows are read does not matter", () => {
    fc.assert(
      fc.property(
        histories.chain(({ all, done }) =>
          fc.record({
            all: fc.constant(all),
            rows: fc.constant(appliedFrom(done)),
            shuffled: fc.shuffledSubarray(appliedFrom(done), { minLength: done.length }),
          }),
        ),
        ({ all, rows, shuffled }) => {
          expect(pendingMigrations(shuffled, all)).toEqual(pendingMigrations(rows, all));
        },
      ),
    );
  });

  test("a step whose text changed after it was applied is always refused", () => {
    fc.assert(
      fc.property(histories, fc.nat(), ({ all, done }, choice) => {
        fc.pre(done.length > 0);
        const edited = done[choice % done.length]!.id;
        const changed = all.map((one) => (one.id === edited ? step(one.id, `${one.sql} `) : one));
        expect(reasonOf(appliedFrom(done), changed)).toBe("MIGRATION_EDITED");
      }),
    );
  });

  test("two steps of one domain that changed places are always refused", () => {
    fc.assert(
      fc.property(histories, fc.nat(), ({ all, done }, choice) => {
        const domain = done.map(({ id }) => id.split("/")[0])[choice % Math.max(done.length, 1)];
        const places = done.flatMap(({ id }, index) => (id.startsWith(`${domain}/`) ? [index] : []));
        fc.pre(places.length > 1);
        const [first, second] = [places[0]!, places[1]!];
        const swapped = done.map(
          (one, at) => done[at === first ? second : at === second ? first : at] ?? one,
        );
        expect(reasonOf(appliedFrom(swapped), all)).toBe("MIGRATION_REORDERED");
      }),
    );
  });

  test("a database is refused by every binary that lacks one of its steps", () => {
    fc.assert(
      fc.property(histories, fc.nat(), ({ all, done }, choice) => {
        fc.pre(done.length > 0);
        const lacking = done[choice % done.length]!.id;
        const older = all.filter(({ id }) => id !== lacking);
        expect(reasonOf(appliedFrom(done), older)).toBe("DATABASE_NEWER");
      }),
    );
  });
});
