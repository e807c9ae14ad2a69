import { loadavg } from "node:os";
import type { Report } from "../src/model/effects.ts";
import { dataFolder, removeFolder } from "../test/support/service.ts";
import { followedWay, logWay, type Way } from "./support/append-ways.ts";
import { type Figure, rate } from "./support/figures.ts";

const devices = 500;
const seconds = 5;
/** Each pass sends the same hours again, with each position this much later than in the pass before, ms. */
const passes = 3;
const passMs = 300;
/** Four days ago each tracker began to report each second. */
const begin = Date.now() - 4 * 86_400_000;

function reportAt(step: number, pass: number): Report {
  return {
    type: "fix",
    time: begin + step * 1000 + pass * passMs,
    valid: true,
    latitude: 25.2 + (step % 100_000) * 0.000165,
    longitude: 54.6 + (step % 90_000) * 0.00009,
    speed: 40 + (step % 50),
    course: step % 360,
    alarms: [],
    readings: {},
    attributes: {},
  };
}

/** Each tracker sends its next packet when the one before is on disk. Returns records a second. */
async function passOf(way: Way, records: number, pass: number): Promise<number> {
  const began = performance.now();
  const until = began + seconds * 1000;
  let stored = 0;
  await Promise.all(
    Array.from({ length: devices }, async (_, device) => {
      for (let step = 0; performance.now() < until; step += records) {
        const reports = Array.from({ length: records }, (_unused, at) => reportAt(step + at, pass));
        await new Promise<void>((resolve) => way.submit(device, reports, resolve));
        stored += records;
      }
    }),
  );
  return (stored * 1000) / (performance.now() - began);
}

async function rates(open: (directory: string) => Promise<Way>, records: number) {
  const directory = dataFolder();
  const way = await open(directory);
  try {
    const found: number[] = [];
    for (let pass = 0; pass < passes; pass++) found.push(await passOf(way, records, pass));
    return { found, waiting: way.waiting() };
  } finally {
    await way.close();
    removeFolder(directory);
  }
}

/** Records on disk a second without sockets: by ingest with the follower behind, beside a log that is only packed. */
export async function append(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const records of [1, 20]) {
    const { found, waiting } = await rates((directory) => followedWay(directory, devices), records);
    const alone = await rates(logWay, records);
    const text = (all: readonly number[]) => all.map(rate).join(", ");
    figures.push({
      name: `appended and followed, ${records} a packet, the same hours three times; the third time, of the first`,
      value: (found.at(-1) ?? 0) / (found[0] ?? 1),
      unit: "",
      limit: 0.8,
      bound: "at least",
      made: `${text(found)}; ${waiting}; to a log alone ${text(alone.found)}; load ${loadavg()[0]?.toFixed(1)}`,
    });
  }
  return figures;
}
