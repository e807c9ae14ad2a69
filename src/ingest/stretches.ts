import type { DeviceKey } from "../model/device.ts";
import { placeBefore } from "../model/location.ts";
import type { HistoryContext, LocationStore, PackedContext } from "../ports/store.ts";
import type { Draft } from "./draft.ts";
import type { Stretch } from "./plan.ts";

/** Records of a stretch after its moment: mostly the totals meet within these. */
const stretchRecords = 8;
/** Stretches of one plan. 128 devices are planned at a time, so their stretches hold some 40 MB at most. */
const mostStretches = 32;
/** Bytes of one record on average. A stretch whose records have longer texts is left for a plan of its own. */
const recordBytes = 1024;

/**
 * Chooses the moments around which a device's history is read to plan drafts that lie far apart. `context` surrounds the first of the device's drafts, and tells how far apart
 * the stored records are. Returns no moments when less is to be read from the first draft to the last.
 */
export function startsOf({ from }: HistoryContext, drafts: readonly Draft[]): readonly number[] {
  const [first, last] = [from[0]?.time ?? 0, from.at(-1)?.time ?? 0];
  // The time that the records of one stretch take up.
  const length = ((last - first) / Math.max(1, from.length - 1)) * stretchRecords;
  const starts: number[] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const { time } of drafts) {
    if (time <= end) continue;
    starts.push(time);
    end = time + length;
    if (starts.length === mostStretches) break;
  }
  const between = (starts.at(-1) ?? last) - last;
  return starts.length * length * 2 > between ? [] : starts;
}

/** Reads a device's history around moments. Leaves out what can't be read: the reports there are planned by themselves, and the read of that plan tells why. */
export async function readStretches(
  store: Pick<LocationStore, "packedContext">,
  device: DeviceKey,
  starts: readonly number[],
): Promise<readonly Stretch[]> {
  const read = (time: number) => store.packedContext(device, placeBefore(time), stretchRecords).catch(() => undefined);
  const packed = await Promise.all(starts.map(read));
  // Only now, when the plan is made: unpacked records take several times as much memory, and those of many devices wait at a time.
  return starts.flatMap((time, index) => stretchesOf(time, packed[index]));
}

function stretchesOf(time: number, packed: PackedContext | undefined): readonly Stretch[] {
  if (packed === undefined || packed.bytes > (stretchRecords + 1) * recordBytes) return [];
  try {
    return [{ time, context: packed.unpack() }];
  } catch {
    return [];
  }
}
