import { setTimeout as sleep } from "node:timers/promises";
import { dataFolder, end, register, removeFolder, type Service, startService } from "../test/support/service.ts";
import { avlImei, avlImeis } from "./support/avl.ts";
import { type Figure, rate } from "./support/figures.ts";
import { program } from "./support/processes.ts";

const connections = 500;
const records = 20;
/** Each pass sends the same hours: positions some hundred milliseconds beside those of the pass before. */
const passes = 3;
const passMs = 300;
const warmupSeconds = 1;
const seconds = 6;
const daysAgo = 5;

/** The most seconds that one tracker's backlog is sent for, and how many records it has. */
const backlogSeconds = 120;
const backlogRecords = 1_000_000;
const inFlight = 8;

interface Load {
  readonly rate: number;
  readonly refused: number;
}

interface Backlog {
  readonly acknowledged: number;
  readonly rate: number;
}

async function pass(service: Service, now: number): Promise<Load> {
  const args = [service.devicePort, connections, records, warmupSeconds, seconds, 0, daysAgo, 0, 0, now];
  const { child, first } = await program<Load>("avl-load", args);
  await end(child);
  return first;
}

/** The third time over the same hours beside the first. */
async function again(): Promise<Figure> {
  return withService(avlImeis(connections), async (service) => {
    const now = Date.now();
    const loads: Load[] = [];
    for (let index = 0; index < passes; index++) {
      loads.push(await pass(service, now + index * passMs));
      // What the passes leave to be sealed is a part of the next one, but not all at once.
      await sleep(1000);
    }
    const rates = loads.map((one) => one.rate);
    return {
      name: "a fleet's hours for the third time, of the first",
      value: (rates.at(-1) ?? 0) / (rates[0] ?? 1),
      unit: "",
      limit: 0.8,
      bound: "at least",
      made: `${rates.map(rate).join(", ")}; ${loads.reduce((sum, { refused }) => sum + refused, 0)} refused`,
    };
  });
}

/** One tracker's backlog. */
async function backlogIn(order: "oldest" | "newest" | "random"): Promise<Backlog> {
  return withService([avlImei(0)], async (service) => {
    const args = [service.devicePort, avlImei(0), backlogRecords, records, inFlight, order, backlogSeconds];
    const { child, first } = await program<Backlog>("avl-backlog", args);
    await end(child);
    return first;
  });
}

/** One tracker's backlog in other orders beside the same in order. */
async function orders(): Promise<readonly Figure[]> {
  const before = await backlogIn("oldest");
  const others = [
    { name: "newest first", ...(await backlogIn("newest")) },
    { name: "in random order", ...(await backlogIn("random")) },
  ];
  const after = await backlogIn("oldest");
  const reference = (before.rate + after.rate) / 2;
  return others.map((other) => ({
    name: `a tracker's backlog ${other.name}, of in order`,
    value: other.rate / reference,
    unit: "",
    limit: 0.85,
    bound: "at least",
    made: `${rate(other.rate)} of ${rate(before.rate)} and ${rate(after.rate)}; ${other.acknowledged.toLocaleString("en")} positions in ${backlogSeconds} s at most`,
  }));
}

async function withService<T>(devices: readonly string[], work: (service: Service) => Promise<T>): Promise<T> {
  const directory = dataFolder();
  const service = await startService(directory);
  try {
    await register(service, devices);
    return await work(service);
  } finally {
    await service.stop();
    removeFolder(directory);
  }
}

/** Backlogs: a fleet's hours sent again and again with other contents, and one tracker's in other orders. */
export async function backlog(): Promise<readonly Figure[]> {
  return [await again(), ...(await orders())];
}
