import type { DeviceKey } from "../model/device.ts";
import { type DeviceState, placeBefore } from "../model/location.ts";
import type { HistoryContext, LocationStore, PackedContext } from "../ports/store.ts";
import type { Draft } from "./draft.ts";
import { type LatePlan, planLate, type Stretch } from "./plan.ts";

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
 * Chooses the moments around which a device's history is read to plan drafts that lie far apart. `context` surrounds the first of the device's drafts, and tells how far apart
 * the stored records are. Returns no moments when less is to be read from the first draft to the last.
 */
export function startsOf({ from }: HistoryContext, drafts: readonly Draft[]): readonly number[] {
  const [first, last] = [from[0]?.time ?? 0, from.at(-1)?.time ?? 0];
  return startsApart((last - first) / Math.max(1, from.length - 1), last, drafts);
}

/** As `startsOf`. `msEach`: how far apart the stored records are. `from`: what is stored up to this time is known, or need not be. */
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

/** Unpacks stretches, which a plan does no earlier than when it is made. */
export function unpackStretches(stretches: readonly PackedStretch[]): readonly Stretch[] {
  return stretches.flatMap(({ time, packed }) => {
    try {
      return [{ time, context: packed.unpack() }];
    } catch {
      return [];
    }
  });
}

/** Plans those of some drafts, in the order of time, that lie in stretches of the history. Undefined: none does, or the totals do not meet in the first stretch that has some. */
export function planApart(
  state: DeviceState,
  drafts: readonly Draft[],
  stretches: readonly PackedStretch[],
): Exclude<LatePlan, string> | undefined {
  const [first, ...further] = unpackStretches(stretches);
  const at = first === undefined ? -1 : drafts.findIndex(({ time }) => time >= first.time);
  if (first === undefined || at < 0) return undefined;
  const within = drafts.slice(at);
  const made = planLate(state, first.context, within, false, undefined, further);
  if (made === "more context" || made.leftover.length === within.length) return undefined;
  return at === 0 ? made : { plan: made.plan, leftover: [...drafts.slice(0, at), ...made.leftover] };
}
