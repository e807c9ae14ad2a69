import { closeSync, openSync, readSync } from "node:fs";

/** Lengths in a log of SQLite (https://www.sqlite.org/fileformat2.html, 4.1 and 4.2). */
export const logHeaderBytes = 32;
const frameHeaderBytes = 24;
/** Of the two magic numbers, the one whose checksums are of big-endian words. */
const bigEndianMagic = 0x377f0683;

/** The two words of a checksum. */
type Sums = readonly [number, number];

/** What can be told of a log. `cut short`: a crash cut its last commit short, or the end is damaged. */
export type LogState = "whole" | "damaged" | "cut short";

/** What a log holds. */
interface LogContent {
  readonly state: LogState;
  /** Pages of the database after the last whole commit; 0 where there is none. */
  readonly pages: number;
  /** Numbers of the pages that the whole commits wrote. */
  readonly logged: ReadonlySet<number>;
}

/**
 * Tells what a log holds, and whether it is damaged. SQLite reads a log up to the first frame with a wrong checksum and drops the rest without a word, because a commit that a crash cut short looks the
 * same. But the service begins a commit only when the previous one is on disk. So if two whole commits follow a wrong frame, both began after it was written, and it was damaged later.
 * With one whole commit after it, or none, damage can't be told from a commit that was cut short. A frame in which only the salts are wrong was written whole, and is damaged.
 * A log that was cut off between two frames looks like one that was written no further.
 */
export function contentOfLog(file: string, pageSize: number): LogContent {
  const descriptor = openSync(file, "r");
  const found = { pages: 0, logged: new Set<number>() };
  try {
    return { state: walk(descriptor, pageSize, found), ...found };
  } finally {
    closeSync(descriptor);
  }
}

function walk(descriptor: number, pageSize: number, found: { pages: number; logged: Set<number> }): LogState {
  const header = read(descriptor, logHeaderBytes, 0);
  if (header === undefined) return "whole";
  const little = header.getUint32(0) !== bigEndianMagic;
  let sums: Sums = sumsAt(header, 24);
  if (!same(checksum([0, 0], header, 0, 24, little), sums)) return "damaged";
  const salts = sumsAt(header, 16);
  const frameBytes = frameHeaderBytes + pageSize;
  let wrong = false;
  let own = false;
  let commits = 0;
  const written: number[] = [];
  for (let at = logHeaderBytes; commits < 2; at += frameBytes) {
    const frame = read(descriptor, frameBytes, at);
    // The rest of an older log has other salts.
    if (frame === undefined) return (wrong ? own : endsWithin(descriptor, at, salts)) ? "cut short" : "whole";
    const stored = sumsAt(frame, 16);
    const isOwn = same(sumsAt(frame, 8), salts);
    const fits = same(frameSums(sums, frame, little), stored);
    if (fits && !isOwn && !wrong) return "damaged";
    if (wrong || !fits) own ||= isOwn;
    const pages = frame.getUint32(4);
    const commit = pages !== 0;
    if (!isOwn || !fits) {
      wrong = true;
      commits = 0;
    } else if (wrong) {
      if (commit) commits++;
    } else {
      written.push(frame.getUint32(0));
      if (commit) {
        for (const page of written.splice(0)) found.logged.add(page);
        found.pages = pages;
      }
    }
    sums = stored;
  }
  return "damaged";
}

/** Whether a log ends within a frame of its own. Where even the salts are missing, they were cut off: SQLite writes the head of a frame at once. */
function endsWithin(descriptor: number, at: number, salts: Sums): boolean {
  const head = read(descriptor, 16, at);
  return head === undefined ? read(descriptor, 1, at) !== undefined : same(sumsAt(head, 8), salts);
}

function frameSums(before: Sums, frame: DataView, little: boolean): Sums {
  return checksum(checksum(before, frame, 0, 8, little), frame, frameHeaderBytes, frame.byteLength, little);
}

function checksum([first, second]: Sums, bytes: DataView, from: number, to: number, little: boolean): Sums {
  let one = first;
  let two = second;
  for (let at = from; at < to; at += 8) {
    one = (one + bytes.getUint32(at, little) + two) >>> 0;
    two = (two + bytes.getUint32(at + 4, little) + one) >>> 0;
  }
  return [one, two];
}

function sumsAt(bytes: DataView, at: number): Sums {
  return [bytes.getUint32(at), bytes.getUint32(at + 4)];
}

function same(one: Sums, other: Sums): boolean {
  return one[0] === other[0] && one[1] === other[1];
}

/** Undefined if the file ends before. */
function read(descriptor: number, length: number, at: number): DataView | undefined {
  const bytes = new Uint8Array(length);
  return readSync(descriptor, bytes, 0, length, at) === length ? new DataView(bytes.buffer) : undefined;
}
