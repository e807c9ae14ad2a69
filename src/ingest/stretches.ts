import type { DeviceKey } from "../model/device.ts";
import { placeBefore } from "../model/location.ts";
import type { HistoryContext, LocationStore, PackedContext } from "../ports/store.ts";
import type { Draft } from "./draft.ts";
import type { Stretch } from "./plan.ts";

/** Records of a stretch after its moment: mostly the totals meet within these. */
export const stretchRecords = 8;
/** Stretches of one plan. 128 devices are planned at a time, so their stretches hold some 40 MB at most. */
const mostStretches = 32;
/** Bytes of one record on average. A stretch whose records have longer texts is left for a plan of its own. */
const recordBytes = 1024;

/** What surrounds a moment, packed: unpacked records take several times as much memory, and those of many devices wait at a time. */
export interface PackedStretch {
  readonly time: number;
  readonly packed: PackedContext;
}

/**
 * Chooses the moments around which a device's history is read to plan drafts that lie far apart. `msEach`: how far apart the stored records are. `from`: what is stored up to this
 * time is known, or need not be. Returns no moments when less is to be read from the first draft to the last.
 */
export function startsApart(msEach: number, from: number, drafts: readonly Draft[]): readonly number[] {
  // The time that the records of one stretch take up.
  const length = msEach * stretchRecords;
  const starts: number[] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const { time } of drafts) {
    if (time <= end) continue;
    starts.push(time);
    end = time + length;
    if (starts.length === mostStretches) break;
  }
  const between = (starts.at(-1) ?? from) - from;
  return starts.length * length * 2 > between ? [] : starts;
}

/** Reads a device's history around moments. Leaves out what can't be read: the reports there are planned by themselves, and the read of that plan tells why. */
export async function readStretches(
  store: Pick<LocationStore, "packedContext">,
  device: DeviceKey,
  starts: readonly number[],
): Promise<readonly PackedStretch[]> {
  const read = async (time: number): Promise<readonly PackedStretch[]> => {
    const packed = await store.packedContext(device, placeBefore(time), stretchRecords).catch(() => undefined);
    return packed === undefined || packed.bytes > (stretchRecords + 1) * recordBytes ? [] : [{ time, packed }];
  };
  return (await Promise.all(starts.map(read))).flat();
}

/** Unpacks stretches one after the other, as a plan comes to them. */
export function* unpackStretches(stretches: readonly PackedStretch[]): Generator<Stretch> {
  for (const { time, packed } of stretches) {
    const context = unpacked(packed);
    if (context !== undefined) yield { time, context };
  }
}

function unpacked(packed: PackedContext): HistoryContext | undefined {
  try {
    return packed.unpack();
  } catch {
    return undefined;
  }
}
