import type { Checked } from "./host.ts";

/** Something that is wrong with a store. */
export type Finding = Checked["findings"][number];

const moment = (time: number) => new Date(time).toISOString();

/** A finding as JSON. */
export function inJson({ device, range, problem }: Finding) {
  return { device: device ?? null, ...(range && { from: moment(range.from), to: moment(range.to) }), problem };
}

/** A finding for people. */
export function lineOf({ device, range, problem }: Finding): string {
  const span = range && ` from ${moment(range.from)} to ${moment(range.to)}`;
  return device === undefined ? problem : `device ${device}${span ? `, positions${span}` : ""}: ${problem}`;
}
