import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { dataFolder, end, register, removeFolder, type Service, startService } from "../test/support/service.ts";
import { avlImeis } from "./support/avl.ts";
import { type Figure, rate } from "./support/figures.ts";
import { portOf } from "./support/http.ts";
import { program } from "./support/processes.ts";

const streamCount = 2000;
/** Devices that each stream follows, as a dispatcher's group: each device is followed by twenty. */
const followed = 10;
/** Trackers that report once a second, and others that report as fast as they are acknowledged. */
const paced = 1000;
const fast = 200;
const warmupSeconds = 3;
const seconds = 10;

interface Acknowledged {
  readonly rate: number;
  readonly refused: number;
}

interface Delivered {
  readonly events: number;
  readonly missing: number;
  readonly failures: number;
  readonly p50: number;
  readonly p99: number;
}

/** Both kinds of trackers, for some seconds: positions acknowledged a second. `daysAgo`: another number each time. */
async function acknowledgedBy(service: Service, daysAgo: number): Promise<number> {
  const both = await Promise.all([trackers(service, paced, 1000, 0, 0), trackers(service, fast, 0, daysAgo, paced)]);
  return both.reduce((sum, { rate: one }) => sum + one, 0);
}

async function trackers(service: Service, count: number, every: number, daysAgo: number, from: number) {
  const live = daysAgo === 0 ? 1 : 0;
  const args = [service.devicePort, count, 1, warmupSeconds, seconds, every, daysAgo, 0, 0, 0, live, from];
  const { child, first } = await program<Acknowledged>("avl-load", args);
  await end(child);
  if (first.refused > 0) throw new Error(`${first.refused} positions were refused`);
  return first;
}

/** What the streams are told of the trackers that report once a second. */
async function delivered(service: Service, streams: ChildProcess): Promise<Delivered> {
  const reports = trackers(service, paced, 1000, 0, 0);
  await sleep(warmupSeconds * 1000);
  streams.send(seconds - 1);
  const [message] = await once(streams, "message");
  await reports;
  return message;
}

/** 2,000 live streams: what they are told, how late, and what is acknowledged meanwhile beside what is without them. */
export async function streams(): Promise<readonly Figure[]> {
  const directory = dataFolder();
  const service = await startService(directory, {
    WAYBEAM_STREAMS_PER_USER: String(streamCount),
    WAYBEAM_STREAMS_PER_ACCOUNT: String(streamCount),
    WAYBEAM_HTTP_CONNECTIONS_PER_ADDRESS: "4000",
  });
  try {
    await register(service, avlImeis(paced + fast));
    const before = await acknowledgedBy(service, 30);
    const open = [portOf(service), service.token, streamCount, paced, followed];
    const { child } = await program<{ live: number }>("stream-load", open);
    const told = await delivered(service, child);
    if (told.failures > 0) throw new Error(`${told.failures} streams broke off`);
    const beside = await acknowledgedBy(service, 20);
    await end(child);
    const after = await acknowledgedBy(service, 10);
    const without = (before + after) / 2;
    const made = `${streamCount} streams of ${followed} devices each, ${paced} fixes a second, ${rate(told.events / (seconds - 1))} events`;
    return [
      { name: "live streams, positions missing", value: told.missing, unit: "", limit: 1, bound: "under", made },
      {
        name: "live streams, age of a position p99",
        value: told.p99,
        unit: "ms",
        limit: 500,
        bound: "under",
        made: `p50 ${told.p50} ms`,
      },
      {
        name: "acknowledged beside live streams, of those without",
        value: beside / without,
        unit: "",
        limit: 0.7,
        bound: "at least",
        made: `${rate(beside)} of ${rate(without)}, clients on the same machine`,
      },
    ];
  } finally {
    await service.stop();
    removeFolder(directory);
  }
}
