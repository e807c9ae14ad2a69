import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { call, dataFolder, removeFolder, type Service, startService } from "../test/support/service.ts";
import { avlImei } from "./support/avl.ts";
import { carReadings, driveStart } from "./support/drive.ts";
import type { Figure } from "./support/figures.ts";
import { fillBlocks } from "./support/fill-blocks.ts";
import { percentile } from "./support/percentile.ts";

const dayMs = 86_400_000;
const days = 30;
/** Devices that report each 10 seconds, so that a day of one has 8,640 positions. */
const often = 100;
const oftenMs = 10_000;
/** All the others. Were each to report as often, the data would take 40 GB. */
const seldom = 9900;
const seldomMs = 300_000;
/** Days that are asked for of each device that reports often. */
const asked = [3, 14, 27];

interface Page {
  readonly locations: readonly unknown[];
}

/** A day of a device, ms. */
async function read(service: Service, device: number, day: number): Promise<number> {
  const from = driveStart + day * dayMs;
  const range = { from: new Date(from).toISOString(), to: new Date(from + dayMs - 1).toISOString() };
  const began = performance.now();
  const answer = await fetch(`${service.url}/api/devices/${avlImei(device)}/locations`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.token}`, "content-type": "application/json" },
    body: JSON.stringify(range),
  });
  const text = await answer.text();
  const taken = performance.now() - began;
  const { locations }: Page = JSON.parse(text);
  if (locations.length !== dayMs / oftenMs) throw new Error(`${locations.length} positions of a day came back`);
  return taken;
}

/** Asks for the days of all devices that report often, each once. */
async function readAll(service: Service): Promise<readonly number[]> {
  const taken: number[] = [];
  for (const day of asked) for (let device = 0; device < often; device++) taken.push(await read(service, device, day));
  return taken.toSorted((one, other) => one - other);
}

/**
 * Has the system forget what it holds of the databases: without rights of its own, dd may ask for that. Returns whether
 * it did.
 */
function forgetPages(directory: string): boolean {
  return ["waybeam.db", "positions.db"].every((name) => {
    const file = join(directory, name);
    const synced = spawnSync("sync", [file]);
    const dropped = spawnSync("dd", [`if=${file}`, "iflag=nocache", "count=0"]);
    return synced.status === 0 && dropped.status === 0;
  });
}

function figureOf(name: string, taken: readonly number[], part: number, made: string): Figure {
  return { name: `a day of one device, 8,640 positions, ${name}`, value: percentile(taken, part), unit: "ms", made };
}

/** A day of one device among 10,000 devices with 30 days each, first from the disk and then again. */
export async function day(): Promise<readonly Figure[]> {
  const directory = dataFolder();
  try {
    const fleet = { readings: carReadings };
    await fillBlocks(directory, [
      { ...fleet, devices: often, positions: (days * dayMs) / oftenMs, everyMs: oftenMs },
      { ...fleet, devices: seldom, positions: (days * dayMs) / seldomMs, everyMs: seldomMs },
    ]);
    const dropped = forgetPages(directory);
    const service = await startService(directory, { WAYBEAM_API_DAILY_RESULTS: "1000000000" });
    try {
      await call(service, "GET", "/api/account");
      const cold = await readAll(service);
      const warm = await readAll(service);
      const made = `${often} devices each ${oftenMs / 1000} s, ${seldom} each ${seldomMs / 1000} s, ${asked.length} days each`;
      const first = dropped ? made : `${made}; the system could not be asked to forget the file`;
      return [
        figureOf("cold, p50", cold, 0.5, first),
        figureOf("cold, p99", cold, 0.99, first),
        figureOf("warm, p50", warm, 0.5, made),
        figureOf("warm, p99", warm, 0.99, made),
      ];
    } finally {
      await service.stop();
    }
  } finally {
    removeFolder(directory);
  }
}
