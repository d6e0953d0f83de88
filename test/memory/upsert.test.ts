/** The decisions of writes (memory.md M20–M23, M34–M40) against the rules said plainly. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isMemorydError, type MemorydError } from "../../src/kernel/errors.js";
import { maskFromPaths } from "../../src/memory/mask.js";
import {
  type RecordFields,
  type RecordInput,
  recordTypes,
  type SettableField,
  type StoredRecord,
  sameFields,
  settableFields,
} from "../../src/memory/model.js";
import { preconditionFrom } from "../../src/memory/precondition.js";
import { trimWhitespace } from "../../src/memory/text.js";
import { decideCursor, decideDelete, decideUpdate, type Room, type Stored } from "../../src/memory/upsert.js";
import { legalFields, storedRecord } from "./arbitrary.js";

const caps = { maxRecords: 10, maxWorkspaces: 3 };
const room: Room = { recordCount: 1, otherWorkspaces: undefined };
const inputFrom = (name: string, fields: RecordFields): RecordInput => ({ name, ...fields });

const refusalOf = (decide: () => unknown): MemorydError => {
  try {
    decide();
  } catch (error) {
    if (isMemorydError(error)) return error;
    throw error;
  }
  return expect.fail("it was decided");
};

const update = (
  input: RecordInput,
  {
    paths = [],
    allowMissing = true,
    time,
  }: { paths?: readonly string[]; allowMissing?: boolean; time?: string } = {},
) =>
  decideUpdate(
    { input, mask: maskFromPaths(paths), allowMissing, precondition: preconditionFrom(time) },
    caps,
  );

const someFields = fc.subarray([...settableFields], { minLength: 1 });

/** The stored fields with the named ones of the input in their place. */
const mergedFields = (
  stored: RecordFields,
  input: RecordFields,
  fields: readonly SettableField[],
): RecordFields => Object.assign({ ...stored }, ...fields.map((field) => ({ [field]: input[field] })));

describe("a partial update", () => {
  test("puts the named fields in the place of the stored ones, or is refused for a pointer with a body", () => {
    fc.assert(
      fc.property(storedRecord, legalFields, someFields, (stored, input, paths) => {
        const decide = update(inputFrom(stored.name, input), { paths });
        const expected = mergedFields(stored, input, paths);
        const { type, refs, status, body, references } = expected;
        if (type === recordTypes.pointer && body !== "") {
          const { violations } = refusalOf(() => decide(stored, room));
          expect(violations.map(({ field }) => field)).toEqual(["memory.body"]);
        } else {
          expect(decide(stored, room)).toEqual({
            kind: "put",
            fields: { type, refs, status, body: trimWhitespace(body), references },
          });
        }
      }),
      { numRuns: 500 },
    );
  });

  test("of different fields gives the same in either order", () => {
    fc.assert(
      fc.property(
        storedRecord,
        legalFields,
        legalFields,
        fc.shuffledSubarray([...settableFields]),
        (stored, a, b, some) => {
          const stays: StoredRecord = { ...stored, type: recordTypes.plan };
          const [first, second] = [some, settableFields.filter((field) => !some.includes(field))];
          fc.pre(first.length > 0 && second.length > 0);
          const [one, two] = [
            { ...a, type: recordTypes.decision },
            { ...b, type: recordTypes.decision },
          ];
          const apply = (onto: StoredRecord, input: RecordFields, paths: readonly string[]): StoredRecord => {
            const decision = update(inputFrom(onto.name, input), { paths })(onto, room);
            return decision.kind === "put" ? { ...onto, ...decision.fields } : expect.fail("it was not put");
          };
          expect(apply(apply(stays, one, first), two, second)).toEqual(
            apply(apply(stays, two, second), one, first),
          );
        },
      ),
    );
  });
});

describe("an update", () => {
  const absent = undefined;
  const fields: RecordFields = fc.sample(legalFields, 1)[0] as RecordFields;
  const input = inputFrom("a", fields);
  const stored = fc.sample(storedRecord, { numRuns: 1, seed: 7 })[0] as StoredRecord;
  const unreadable: Stored = { ...stored, readable: false } as Stored;

  test("without a mask puts what was sent, whatever is stored", () => {
    fc.assert(
      fc.property(fc.option(storedRecord, { nil: undefined }), legalFields, (known, sent) => {
        const decision = update(inputFrom("a", sent))(known, room);
        expect(decision).toEqual({ kind: "put", fields: sent });
      }),
    );
    expect(update(input)(unreadable, room)).toEqual({ kind: "put", fields });
  });

  test("of nothing asks first for leave, then for a whole record, then for its time, then for room", () => {
    const broken = { ...input, refs: [] };
    const full: Room = { recordCount: 10, otherWorkspaces: 3 };
    const time = "2026-01-01T00:00:00Z";
    const of = (sent: RecordInput, options: Parameters<typeof update>[1]) =>
      refusalOf(() => update(sent, options)(absent, full));
    expect(of(broken, { paths: ["status"], allowMissing: false, time }).code).toBe("not_found");
    expect(of(broken, { paths: ["status"], time }).violations).toHaveLength(1);
    expect(of(input, { paths: ["status"], time })).toMatchObject({
      code: "version_conflict",
      reason: "STALE_UPDATE_TIME",
      current: { kind: "absent" },
    });
    expect(of(input, {}).reason).toBe("TOO_MANY_WORKSPACES");
    const roomy: Room = { recordCount: 10, otherWorkspaces: undefined };
    expect(refusalOf(() => update(input)(absent, roomy)).reason).toBe("TOO_MANY_RECORDS");
    expect(update(input)(stored, roomy).kind).toBe("put");
    expect(update(input)(absent, { recordCount: 9, otherWorkspaces: undefined }).kind).toBe("put");
    expect(update(input)(absent, { recordCount: 0, otherWorkspaces: 2 }).kind).toBe("put");
  });

  test("whose time does not fit is kept when it would change nothing, and is a conflict otherwise", () => {
    fc.assert(
      fc.property(storedRecord, legalFields, fc.boolean(), (known, other, isReplay) => {
        const sent = isReplay ? known : other;
        const decide = update(inputFrom(known.name, sent), { time: "0001-01-01T00:00:00Z" });
        if (sameFields(sent, known)) expect(decide(known, room)).toEqual({ kind: "keep" });
        else {
          expect(refusalOf(() => decide(known, room))).toMatchObject({
            code: "version_conflict",
            current: { kind: "record", record: known },
          });
        }
      }),
    );
  });

  test("that expects nothing where something is says that it exists already", () => {
    const refusal = refusalOf(() => update(input, { time: "absent" })(stored, room));
    expect(refusal).toMatchObject({ code: "version_conflict", reason: "STALE_UPDATE_TIME" });
    expect(refusal.message).toContain("exists already");
  });

  test("whose time fits is put even when it changes nothing", () => {
    const time = new Date(stored.updatedMs).toISOString();
    expect(update(inputFrom("a", stored), { time })(stored, room).kind).toBe("put");
  });

  test("of a row that does not read looks at the time before it says so", () => {
    const paths = ["status"];
    expect(refusalOf(() => update(input, { paths })(unreadable, room)).reason).toBe("RECORD_UNREADABLE");
    const time = "0001-01-01T00:00:00Z";
    expect(refusalOf(() => update(input, { paths, time })(unreadable, room)).reason).toBe(
      "STALE_UPDATE_TIME",
    );
    expect(refusalOf(() => update(input, { time })(unreadable, room)).reason).toBe("STALE_UPDATE_TIME");
  });

  test("can be decided twice with the same outcome", () => {
    fc.assert(
      fc.property(storedRecord, legalFields, someFields, (known, sent, paths) => {
        const decide = update(inputFrom(known.name, { ...sent, type: recordTypes.plan }), { paths });
        const attempt = (): unknown => {
          try {
            return decide(known, room);
          } catch (error) {
            return isMemorydError(error) ? error.message : error;
          }
        };
        expect(attempt()).toEqual(attempt());
      }),
    );
  });
});

describe("a delete", () => {
  const none = preconditionFrom(undefined);
  const old = preconditionFrom("0001-01-01T00:00:00Z");

  test("of nothing is kept when that is allowed, whatever time it names", () => {
    for (const precondition of [none, old]) {
      expect(decideDelete(true, precondition)(undefined)).toEqual({ kind: "keep" });
      expect(refusalOf(() => decideDelete(false, precondition)(undefined)).reason).toBe("RECORD_NOT_FOUND");
    }
  });

  test("of a record goes through unless its time does not fit", () => {
    fc.assert(
      fc.property(storedRecord, fc.boolean(), (known, allowMissing) => {
        expect(decideDelete(allowMissing, none)(known)).toEqual({ kind: "delete" });
        const fitting = preconditionFrom(new Date(known.updatedMs).toISOString());
        expect(decideDelete(allowMissing, fitting)(known)).toEqual({ kind: "delete" });
        expect(refusalOf(() => decideDelete(allowMissing, old)(known)).code).toBe("version_conflict");
      }),
    );
  });
});

describe("a cursor", () => {
  const known = { content: "one", updatedMs: 7, revision: 1, writer: { user: "tester", agent: "" } };

  test("is put when its time fits, kept when it says the same, and a conflict otherwise", () => {
    const write = (content: string, time?: string) => decideCursor(content, preconditionFrom(time), caps);
    expect(write("two")(known, room)).toEqual({ kind: "put", fields: "two" });
    expect(write("two", "1970-01-01T00:00:00.007Z")(known, room)).toEqual({ kind: "put", fields: "two" });
    expect(write("one")(known, room)).toEqual({ kind: "put", fields: "one" });
    expect(write("one", "absent")(known, room)).toEqual({ kind: "keep" });
    expect(refusalOf(() => write("two", "absent")(known, room))).toMatchObject({
      code: "version_conflict",
      current: { kind: "cursor", cursor: known },
    });
    expect(write("", "absent")(undefined, room)).toEqual({ kind: "put", fields: "" });
    expect(refusalOf(() => write("", "1970-01-01T00:00:00Z")(undefined, room))).toMatchObject({
      code: "version_conflict",
      current: { kind: "absent" },
    });
  });

  test("needs room for a new workspace, and none for a record", () => {
    const decide = decideCursor("x", preconditionFrom(undefined), caps);
    const crowded: Room = { recordCount: 0, otherWorkspaces: 3 };
    expect(refusalOf(() => decide(undefined, crowded)).reason).toBe("TOO_MANY_WORKSPACES");
    expect(decide(undefined, { recordCount: 10, otherWorkspaces: undefined }).kind).toBe("put");
    expect(decide(known, crowded).kind).toBe("put");
  });
});
