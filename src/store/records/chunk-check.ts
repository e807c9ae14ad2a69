import { ContentHash } from "../../model/content-hash.ts";
import { RecordsDamaged, recordsDamage } from "./damage.ts";
import { unpackRecords } from "./packed-rows.ts";
import { RecordCursor } from "./record-codec.ts";

/** A row of the tail as it is stored. */
export interface StoredChunk {
  readonly first: number;
  readonly last: number;
  readonly count: number;
  /** Its records, packed or not: see `packRecords`. */
  readonly data: Uint8Array;
  /** Whether the row matches its checksum. Undefined when an older version wrote it without one. */
  readonly whole?: boolean | undefined;
}

/** What reading each record of a chunk found. */
export interface CheckedChunk {
  readonly records: number;
  /** Records that have an arrival number. */
  readonly numbered: number;
  /** What is wrong with the chunk. Undefined when nothing is. */
  readonly problem: string | undefined;
}

const contentHash = new ContentHash();
const noMatch = "a record does not match its checksum";

/** Throws `RecordsDamaged` if a row does not match its checksum. */
export function checkRow({ whole }: Pick<StoredChunk, "whole">): void {
  if (whole === false) throw new RecordsDamaged("its row does not match its checksum");
}

/** The records of a row of the tail. Throws `RecordsDamaged` where the row or one of its records is damaged. */
export function wholeRecords(chunk: StoredChunk): Uint8Array {
  checkRow(chunk);
  const data = unpackRecords(chunk.data);
  if (chunk.whole) return data;
  const { problem } = checkRecords({ ...chunk, data });
  if (problem !== undefined) throw new RecordsDamaged(problem);
  return data;
}

/** Throws `RecordsDamaged` where the content of a record of the tail was changed. `view`: of the bytes that the cursor reads. */
export function checkRecord(cursor: RecordCursor, view: DataView, at: number): void {
  const problem = readOne(cursor, at);
  if (problem !== undefined) throw new RecordsDamaged(problem);
  if (cursor.arrival !== cursor.hash && !hasItsHash(cursor, view)) throw new RecordsDamaged(noMatch);
}

/** Reads every record of a row of the tail: see `checkRecords`. */
export function checkChunk(chunk: StoredChunk): CheckedChunk {
  let data: Uint8Array;
  try {
    data = unpackRecords(chunk.data);
  } catch (error) {
    const problem = recordsDamage(error);
    if (problem === undefined) throw error;
    return { records: 0, numbered: 0, problem };
  }
  return checkRecords({ ...chunk, data });
}

/**
 * Reads every record of a chunk and trusts none of its bytes, which are not packed. Records with an arrival number carry a hash of their content, so a changed value shows.
 * Of records that older versions wrote, only the form can be checked.
 */
export function checkRecords({ first, last, count, data }: StoredChunk): CheckedChunk {
  const cursor = new RecordCursor(data);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  let records = 0;
  let numbered = 0;
  let problem: string | undefined;
  for (let at = 0; at < data.byteLength && problem === undefined; at = cursor.end) {
    problem = readOne(cursor, at);
    if (problem !== undefined) break;
    if (!(cursor.time >= first && cursor.time <= last)) problem = "the time of a record is outside the row's";
    records++;
    if (cursor.arrival === cursor.hash) continue;
    numbered++;
    if (!hasItsHash(cursor, view)) problem = noMatch;
  }
  if (problem === undefined && records !== count) problem = `it holds ${records} records and should hold ${count}`;
  return { records, numbered, problem };
}

/** Reads the record at an offset. Returns what is wrong with its form, or undefined when nothing is. */
function readOne(cursor: RecordCursor, at: number): string | undefined {
  try {
    cursor.read(at);
  } catch (error) {
    const problem = recordsDamage(error);
    if (problem === undefined) throw error;
    return problem;
  }
  const fits = cursor.extras <= cursor.end && cursor.alerts <= cursor.extras;
  return fits ? undefined : "the parts of a record do not fit its length";
}

function hasItsHash(cursor: RecordCursor, view: DataView): boolean {
  const located = cursor.unlocated ? undefined : cursor;
  const viewed = { bytes: cursor.bytes, view };
  const { hash, extras, end } = cursor;
  return (
    hash === contentHash.of(located, viewed, extras, end) || hash === contentHash.withMark(located, viewed, extras, end)
  );
}
