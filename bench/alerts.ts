import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { dataFolder, end, register, removeFolder, type Service, startService } from "../test/support/service.ts";
import { avlImeis } from "./support/avl.ts";
import { type Figure, rate } from "./support/figures.ts";
import { fillRules } from "./support/fill-rules.ts";
import { median, percentile } from "./support/percentile.ts";
import { program } from "./support/processes.ts";
import { ZoneLookUp } from "./support/zone-look-up.ts";
import { timeline } from "./timeline.ts";

const connections = 500;
const zones = 1000;
/** Rules on each device beside none, and what is left of the rate at the least. */
const limits = [
  { rules: 10, limit: 0.95 },
  { rules: 100, limit: 0.9 },
] as const;
/**
 * Rounds as short as can be, in turn, whose middle ratio counts: what else runs on the machine slows some of them down,
 * and the speed of a virtual one changes.
 */
const rounds = 40;
const roundMs = 600;
/** In the first round the compiler works, and rules find what has been so all along. */
const warmupMs = 4000;

const zoneNumbers = [100, 1000, 10_000];
/** The first ones are for the compiler. */
const lookUpRounds = { warmup: 20, measured: 40 };

const timerDevices = 100_000;
const timerSeconds = 20;

interface Load {
  readonly rate: number;
  readonly refused: number;
  readonly p50: number;
  readonly p99: number;
}

/** A round, and what the follower did of it. */
interface Round extends Load {
  /** Positions followed a second, from the first one to when none waited. */
  readonly followed: number;
}

interface Watched {
  readonly rules: number;
  readonly directory: string;
  readonly service: Service;
  readonly trackers: ChildProcess;
  readonly loads: Round[];
}

/** A service whose devices each have a number of rules. */
async function watched(rules: number): Promise<Watched> {
  const directory = dataFolder();
  const devices = avlImeis(connections);
  const first = await startService(directory);
  await register(first, devices);
  await first.stop();
  await fillRules(directory, devices, zones, rules);
  const service = await startService(directory);
  const { child } = await program("avl-bursts", [service.devicePort, connections]);
  return { rules, directory, service, trackers: child, loads: [] };
}

/** Lets a service's trackers send for a time, and waits until its follower rests: the next service has the machine. */
async function load(watched: Watched, ms: number): Promise<Round> {
  const began = performance.now();
  const before = await metricOf(watched, "ingest_positions_appended_total");
  const sent = await new Promise<Load>((resolve) => {
    watched.trackers.once("message", (message) => resolve(message as Load));
    watched.trackers.send(ms);
  });
  while ((await metricOf(watched, "follow_lag_bytes")) > 0) await setTimeout(5);
  const followed = (await metricOf(watched, "ingest_positions_appended_total")) - before;
  return { ...sent, followed: (followed * 1000) / (performance.now() - began) };
}

async function metricOf({ service }: Watched, name: string): Promise<number> {
  const text = await service.metrics();
  return Number(new RegExp(`^waybeam_${name} (\\d+)$`, "m").exec(text)?.[1]);
}

/** Positions and alerts that a service has stored. */
async function storedBy(watched: Watched): Promise<string> {
  const stored = await metricOf(watched, "ingest_positions_appended_total");
  const database = new DatabaseSync(join(watched.directory, "waybeam.db"), { readOnly: true });
  try {
    const found = database.prepare("select count(*) as count from alert").get();
    return `${Number(found?.count).toLocaleString("en")} alerts of ${stored.toLocaleString("en")} positions`;
  } finally {
    database.close();
  }
}

/**
 * Positions acknowledged over TCP with rules on each device, of those without. All services have the same zones and see
 * the same ways.
 */
async function positions(): Promise<readonly Figure[]> {
  const services: Watched[] = [];
  try {
    for (const rules of [0, ...limits.map((one) => one.rules)]) services.push(await watched(rules));
    for (const one of services) await load(one, warmupMs);
    for (let round = 0; round < rounds; round++)
      for (const one of round % 2 === 0 ? services : services.toReversed()) one.loads.push(await load(one, roundMs));
    const [without, ...withRules] = services;
    if (without === undefined) return [];
    return await Promise.all(withRules.map((one, index) => figureOf(one, without, limits[index]?.limit ?? 1)));
  } finally {
    for (const { service, trackers, directory } of services) {
      await end(trackers);
      await service.stop();
      removeFolder(directory);
    }
  }
}

async function figureOf(one: Watched, without: Watched, limit: number): Promise<Figure> {
  const ratios = one.loads.map((measured, round) => measured.rate / (without.loads[round]?.rate ?? 1));
  const sorted = ratios.toSorted((left, right) => left - right);
  const rates = [one, without].map(({ loads }) => rate(median(loads.map((each) => each.rate)))).join(" of ");
  const followed = rate(median(one.loads.map((each) => each.followed)));
  const p50 = median(one.loads.map((each) => each.p50)).toFixed(1);
  const p99 = median(one.loads.map((each) => each.p99)).toFixed(1);
  const refused = one.loads.reduce((sum, each) => sum + each.refused, 0);
  return {
    name: `acknowledged positions with ${one.rules} rules on each device, of those without`,
    value: median(ratios),
    unit: "",
    limit,
    bound: "at least",
    made: `${rates}; half of the rounds from ${percentile(sorted, 0.25).toFixed(2)} to ${percentile(sorted, 0.75).toFixed(2)}; followed ${followed}; p50 ${p50} ms, p99 ${p99} ms; ${refused} refused; ${await storedBy(one)}`,
  };
}

/** Zones near a vehicle's way, asked whether they hold it, as their number grows and their density stays. */
function zoneLookUps(): Figure {
  const cities = zoneNumbers.map((number) => new ZoneLookUp(number));
  for (let round = 0; round < lookUpRounds.warmup + lookUpRounds.measured; round++)
    for (const city of cities) city.measure(round >= lookUpRounds.warmup);
  const told = cities.map((city) => `${city.zones.toLocaleString("en")}: ${median(city.rounds).toFixed(0)} ns`);
  const few = cities[0]?.rounds ?? [];
  const many = cities.at(-1)?.rounds ?? [];
  return {
    name: "zone look-up among 10,000 zones, times that among 100 (the logarithm: 2; the root: 10)",
    value: median(many.map((ns, round) => ns / (few[round] ?? 1))),
    unit: "",
    limit: 5,
    bound: "under",
    made: told.join(", "),
  };
}

/** What the timers of a fleet's offline rules take while it reports nothing but that it is there. */
async function timers(): Promise<Figure> {
  const { child, first } = await program<Timed>("alert-timers", [timerDevices, timerSeconds]);
  await end(child);
  const share = (cpuMs: number) => cpuMs / timerSeconds / 10;
  return {
    name: `timers of ${timerDevices.toLocaleString("en")} devices' offline rules, of a core`,
    value: share(first.watched.cpuMs - first.without.cpuMs),
    unit: "%",
    limit: 1,
    bound: "under",
    made: `${share(first.watched.cpuMs).toFixed(2)} % of ${share(first.without.cpuMs).toFixed(2)} % without a rule; ${timerDevices / 50} heartbeats a second; ${first.watched.told} told due`,
  };
}

interface Timed {
  readonly watched: { readonly cpuMs: number; readonly told: number };
  readonly without: { readonly cpuMs: number };
}

/** Rules: what they cost where fixes come in, zones as their number grows, timers while nothing happens. */
export async function alerts(): Promise<readonly Figure[]> {
  return [...(await positions()), zoneLookUps(), await timers(), await timeline()];
}
