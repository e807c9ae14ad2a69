import type { Log } from "../../ports/log.ts";
import { SpentRows } from "../records/spent.ts";
import { type Link, nobody, type ReaderCalls } from "./calls.ts";
import type { ChunkIndex } from "./chunk-index.ts";
import type { Waiting } from "./device-chunks.ts";
import { chunksOf, impossible, isPossible, placeBehind, type ScanListener } from "./scanned-chunks.ts";
import type { Sealer } from "./sealer.ts";

/** Shifts and patches that wait beside the chunks. */
export type WaitingFound = ReaderCalls["waiting"]["answer"];

/** What the index is loaded with. */
export interface LoadParts {
  readonly reader: Link<ReaderCalls>;
  readonly index: ChunkIndex;
  readonly sealer: Pick<Sealer, "tellDamage" | "tellLost">;
  readonly log: Log;
}

/** Reads chunks from a row number on into the index. */
export async function loadChunks(
  parts: LoadParts,
  call: "scan" | "scanBlocks",
  from: number,
  found?: ScanListener,
): Promise<void> {
  const { reader } = parts;
  let pending = reader.call(call, from);
  for (let place = from; ; ) {
    const rows = await pending;
    if (rows.length === 0) break;
    // The reader goes on while these are put in.
    place = placeBehind(rows, place);
    pending = reader.call(call, place);
    // Nobody waits for it where `someRead` fails.
    pending.catch(() => undefined);
    putChunks(parts, rows, call, found);
    await found?.someRead();
  }
}

/** Puts the rows of a scan's answer into the index, and tells what is damaged. */
export function putChunks(
  { index, sealer }: Pick<LoadParts, "index" | "sealer">,
  rows: Float64Array,
  call: "scan" | "scanBlocks",
  found?: ScanListener,
): void {
  for (const chunk of chunksOf(rows, call === "scanBlocks")) {
    if (chunk.device === nobody) {
      sealer.tellLost(chunk);
      // Otherwise the row itself follows.
      if (chunk.bytes === nobody && call === "scan") index.spent?.lacksRows();
      index.past(chunk.seq);
      continue;
    }
    if (!Number.isSafeInteger(chunk.seq)) {
      // No reader could find the row by such a number.
      if (call === "scan") index.spent?.lacksRows();
      sealer.tellDamage(chunk.device, { ...chunk, problem: impossible });
      continue;
    }
    index.past(chunk.seq);
    if (found?.passes(chunk)) continue;
    index.add(chunk.device, chunk.seq, chunk);
    index.past(chunk.asOf);
    found?.chunk(chunk);
    // Who asks for a range of time does not find it.
    if (!isPossible(chunk)) sealer.tellDamage(chunk.device, { ...chunk, problem: impossible });
  }
}

/** Reads how many shifts and patches wait beside the chunks, and tells what is damaged. */
export async function readWaiting({ reader, index, log }: Omit<LoadParts, "sealer">): Promise<WaitingFound> {
  const found = await reader.call("waiting", null);
  for (const one of found.damaged ?? [])
    log.error(one, "what late reports changed in the totals of a device is damaged");
  // Later rows, which these do not concern, must have higher numbers, even if the rows with the highest numbers are gone.
  for (const { seq } of [...found.shifts, ...found.patches]) index.past(seq);
  return found;
}

/** Notes what waits of each device that the index has. */
export function placeWaiting(index: ChunkIndex, found: WaitingFound): void {
  for (const kind of ["shifts", "patches"] as const)
    for (const { device, since, count } of kind === "shifts" ? found.shifts : found.patches) {
      const chunks = index.get(device);
      if (chunks !== undefined) chunks[kind] = { count, since };
    }
}

/** What waits of a device, with `others` more that concern records from an event time on. */
export function moreWaiting({ count, since }: Waiting, others: number, from: number): Waiting {
  return { count: count + others, since: Math.min(since, from) };
}

/** Finds which rows of the tail are in blocks by now. */
export async function loadSpent({ reader, index, log }: Omit<LoadParts, "sealer">): Promise<SpentRows> {
  const table = await reader.call("spent", null);
  index.spent?.loaded(table.rows);
  // A new row with such a number would count as spent at the next start. Nothing else tells the number where the device's blocks can't be read.
  for (const { seq } of table.rows) index.past(seq);
  for (const device of table.damaged)
    log.error(
      { device },
      "what says which positions of a device are in blocks was damaged; the blocks themselves told",
    );
  return new SpentRows(table);
}
