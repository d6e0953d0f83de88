/**
 * How much is answered (memory.md section 8): how many items of a list, and how much of each record. A view
 * that nobody knows and a negative size are refused; a size over the most is the most.
 */
import { invalidArgument } from "../kernel/errors.js";
import type { StoredRecord } from "./model.js";

/** Numbers are those of `memoryd.records.v1.RecordView`; 0 is the default of the method. */
export const recordViews = { basic: 1, full: 2 } as const;
export type RecordView = (typeof recordViews)[keyof typeof recordViews];

/** The view that a request asks for. */
export function viewFrom(view: number, byDefault: RecordView): RecordView {
  if (view === 0) return byDefault;
  if (view === recordViews.basic || view === recordViews.full) return view;
  throw invalidArgument([{ field: "view", description: "must be basic or full" }]);
}

/** The record as the view shows it. */
export const recordInView = (record: StoredRecord, view: RecordView): StoredRecord =>
  view === recordViews.full || record.body === "" ? record : { ...record, body: "" };

export type PageSizes = { readonly byDefault: number; readonly most: number };

/** How many items a page may hold. */
export function pageSizeFrom(pageSize: number, { byDefault, most }: PageSizes): number {
  if (pageSize < 0) {
    throw invalidArgument([
      { field: "page_size", description: `must not be negative; 0 asks for ${byDefault}` },
    ]);
  }
  return pageSize === 0 ? byDefault : Math.min(pageSize, most);
}
