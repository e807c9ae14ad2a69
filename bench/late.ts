import { dataFolder, end, register, removeFolder, type Service, startService } from "../test/support/service.ts";
import { avlImeis } from "./support/avl.ts";
import { type Figure, rate } from "./support/figures.ts";
import { median } from "./support/percentile.ts";
import { program } from "./support/processes.ts";

const connections = 500;
/** Short rounds in turn, whose middle ratio counts: what else runs on the machine slows some of them down. */
const rounds = 5;
const warmupSeconds = 1;
const seconds = 3;
const limit = 0.85;
/** The day of the first run, some thousand positions of each tracker, 20 a packet: half of the late ones lie in it. */
const firstDay = 20;

interface Load {
  readonly rate: number;
  readonly refused: number;
  readonly p50: number;
  readonly p99: number;
}

/** One run of the load, on a day of its own. `lateEvery`: every so many packets one is late; 0: none. */
async function load(service: Service, now: number, daysAgo: number, lateEvery: number, records = 1): Promise<Load> {
  const args = [service.devicePort, connections, records, warmupSeconds, seconds, 0, daysAgo, lateEvery, firstDay, now];
  const { child, first } = await program<Load>("avl-load", args);
  await end(child);
  return first;
}

function figure(name: string, inOrder: readonly Load[], measured: readonly Load[]): Figure {
  const middle = (of: (one: Load) => number, loads: readonly Load[]) => median(loads.map(of));
  return {
    name: `acknowledged positions, ${name} late, of those in order`,
    value: median(measured.map((one, round) => one.rate / (inOrder[round]?.rate ?? 1))),
    unit: "",
    limit,
    bound: "at least",
    made: `${rate(middle((one) => one.rate, measured))} of ${rate(middle((one) => one.rate, inOrder))}; p50 ${middle((one) => one.p50, measured).toFixed(1)} ms, p99 ${middle((one) => one.p99, measured).toFixed(1)} ms; ${measured.reduce((sum, { refused }) => sum + refused, 0)} refused`,
  };
}

/**
 * Positions acknowledged while some lie anywhere before a tracker's newest one, beside those all in order, in turn on
 * the same service.
 */
export async function late(): Promise<readonly Figure[]> {
  // One for all runs: a late position lies beside the position of an earlier run only where both count their days from
  // the same moment.
  const now = Date.now();
  const directory = dataFolder();
  const service = await startService(directory);
  try {
    await register(service, avlImeis(connections));
    await load(service, now, firstDay, 0, 20);
    const inOrder: Load[] = [];
    const tenth: Load[] = [];
    const half: Load[] = [];
    for (let day = firstDay - 1; inOrder.length < rounds; day -= 3) {
      inOrder.push(await load(service, now, day, 0));
      tenth.push(await load(service, now, day - 1, 10));
      half.push(await load(service, now, day - 2, 2));
    }
    return [figure("every 10th", inOrder, tenth), figure("half", inOrder, half)];
  } finally {
    await service.stop();
    removeFolder(directory);
  }
}
