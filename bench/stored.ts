import { setTimeout as sleep } from "node:timers/promises";
import { dataFolder, removeFolder, startService } from "../test/support/service.ts";
import { noReadings } from "./support/drive.ts";
import type { Figure } from "./support/figures.ts";
import { fillBlocks } from "./support/fill-blocks.ts";
import { median } from "./support/percentile.ts";
import { processorMs, residentBytes } from "./support/processes.ts";

const devices = 10_000;
/** Positions of each device: a million in all, and fifty million. */
const few = 100;
const many = 5000;
/** Starts of each folder, in turn. The least of each counts: what else runs on the machine only adds. */
const rounds = 5;
/** Long enough for what a start leaves to the time after it, and for the collector's idle work. */
const settleMs = 5000;
/** How much more the large folder may take. */
const growth = 1.1;

/** What a start took. */
interface Start {
  readonly seconds: number;
  /** Of the processors, until it was ready and had settled. */
  readonly processorMs: number;
  readonly residentBytes: number;
}

async function start(directory: string): Promise<Start> {
  const service = await startService(directory);
  const pid = service.child.pid ?? 0;
  await sleep(settleMs);
  const taken = {
    seconds: service.readyAfter / 1000,
    processorMs: processorMs(pid),
    residentBytes: residentBytes(pid),
  };
  await service.stop();
  return taken;
}

function figuresOf(small: readonly Start[], large: readonly Start[]): readonly Figure[] {
  const least = (starts: readonly Start[], of: (one: Start) => number) => Math.min(...starts.map(of));
  const ratio = (name: string, of: (one: Start) => number, text: (value: number) => string): Figure => {
    const [one, other] = [least(small, of), least(large, of)];
    const middle = [small, large].map((starts) => text(median(starts.map(of)))).join(" and ");
    const made = `${text(one)} and ${text(other)}, at the median ${middle}`;
    return { name, value: other / one, unit: "", limit: growth, bound: "under", made };
  };
  const seconds = least(large, (one) => one.seconds);
  const stored = `${devices} devices and ${(devices * many) / 1e6} million positions`;
  const of = `of that with ${(devices * few) / 1e6} million`;
  return [
    { name: `start to ready with ${stored}`, value: seconds, unit: "s", limit: 1, bound: "under", made: "" },
    ratio(
      `start to ready with ${stored}, ${of}`,
      (one) => one.seconds,
      (value) => `${value.toFixed(2)} s`,
    ),
    ratio(
      `resident memory with ${stored}, ${of}`,
      (one) => one.residentBytes,
      (value) => `${(value / 2 ** 20).toFixed(0)} MiB`,
    ),
    {
      name: `the processors' time of a start with ${stored}, and of the ${settleMs / 1000} s after it`,
      value: least(large, (one) => one.processorMs),
      unit: "ms",
      made: `${least(small, (one) => one.processorMs)} ms with ${(devices * few) / 1e6} million`,
    },
  ];
}

/**
 * What a start takes, and how much memory a service that does nothing, with one million and with fifty million stored
 * positions.
 */
export async function stored(): Promise<readonly Figure[]> {
  const folders = [dataFolder(), dataFolder()] as const;
  try {
    const fleet = { devices, everyMs: 10_000, readings: noReadings };
    await fillBlocks(folders[0], [{ ...fleet, positions: few }]);
    await fillBlocks(folders[1], [{ ...fleet, positions: many }]);
    const [small, large]: [Start[], Start[]] = [[], []];
    while (large.length < rounds) {
      small.push(await start(folders[0]));
      large.push(await start(folders[1]));
    }
    return figuresOf(small, large);
  } finally {
    for (const folder of folders) removeFolder(folder);
  }
}
