import type { Arrival } from "./alert-lane.ts";
import { chance } from "./chance.ts";

const minuteMs = 60_000;

/** A day of a truck by the level of its tank, %. */
export interface FuelStory {
  readonly seed: number;
  /** Standard deviation of each reading, points; while it drives, half as much comes on top. */
  readonly noise: number;
  /** Minutes between two reports. */
  readonly every: number;
  /** Points an hour that it uses while it drives. */
  readonly use: number;
  /** What happens to the tank while it is parked: when, minutes after the beginning; and how much, points. */
  readonly events?: readonly { readonly at: number; readonly points: number; readonly lasts: number }[];
  /** Minutes from and to which nothing is reported. */
  readonly gap?: readonly [from: number, to: number];
  /** It leans while it is parked and on hills, points. */
  readonly slope?: number;
}

/**
 * A day: it is parked from minute 0, drives from 120 to 300, is parked up to 600 with the ignition off, and drives up
 * to 840.
 */
const drives: readonly (readonly [from: number, to: number])[] = [
  [120, 300],
  [600, 840],
];
const dayMinutes = 960;

/** The reports of a story. */
export function fuelReports(story: FuelStory, start: number): readonly Arrival[] {
  const { seed, noise, every, use, events = [], gap, slope = 0 } = story;
  const random = chance(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const reports: Arrival[] = [];
  let driven = 0;
  for (let minute = 0; minute <= dayMinutes; minute++) {
    const drives = isDriving(minute);
    if (drives) driven++;
    if (minute % every !== 0 || (gap !== undefined && minute > gap[0] && minute < gap[1])) continue;
    const happened = events.reduce(
      (sum, { at, points, lasts }) => sum + points * Math.min(1, Math.max(0, (minute - at) / lasts)),
      0,
    );
    const leaning = slope === 0 ? 0 : drives ? slope * Math.sin(minute / 9) : slope / 2;
    const level = 70 - (driven / 60) * use + happened + leaning + normal() * noise * (drives ? 1.5 : 1);
    const time = start + minute * minuteMs;
    reports.push({
      report: {
        type: "fix",
        time,
        valid: true,
        latitude: 10 + driven * 0.01,
        longitude: 10,
        speed: drives ? 65 : 0,
        alarms: [],
        attributes: {},
        readings: { ignition: drives, fuel: Math.min(100, Math.max(0, level)) },
      },
      receivedAt: time,
    });
  }
  return reports;
}

function isDriving(minute: number): boolean {
  return drives.some(([from, to]) => minute > from && minute <= to);
}
