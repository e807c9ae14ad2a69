import { dataFolder, end, register, removeFolder, type Service, startService } from "../test/support/service.ts";
import { avlImei } from "./support/avl.ts";
import { type Figure, rate } from "./support/figures.ts";
import { program } from "./support/processes.ts";

const connections = 500;
const warmupSeconds = 3;
const seconds = 6;
const limit = 0.5;

interface Load {
  readonly rate: number;
  readonly refused: number;
  readonly p50: number;
  readonly p99: number;
}

/** The day of the first run, some thousand positions of each tracker, 20 a packet: half of the late ones lie in it. */
const firstDay = 6;

/** One run of the load, on a day of its own. `lateEvery`: every so many packets one is late; 0: none. */
async function load(service: Service, daysAgo: number, lateEvery: number, records = 1): Promise<Load> {
  const args = [service.devicePort, connections, records, warmupSeconds, seconds, 0, daysAgo, lateEvery, firstDay];
  const { child, first } = await program<Load>("avl-load", args);
  await end(child);
  return first;
}

/** Positions acknowledged while some lie anywhere before a tracker's newest one, beside those all in order, taken before and after. */
export async function late(): Promise<readonly Figure[]> {
  const directory = dataFolder();
  const service = await startService(directory);
  try {
    await register(
      service,
      Array.from({ length: connections }, (_, index) => avlImei(index)),
    );
    await load(service, firstDay, 0, 20);
    const before = await load(service, 5, 0);
    const tenth = await load(service, 4, 10);
    const half = await load(service, 3, 2);
    const after = await load(service, 2, 0);
    const reference = (before.rate + after.rate) / 2;
    return [
      { name: "every 10th", measured: tenth },
      { name: "half", measured: half },
    ].map(({ name, measured }) => ({
      name: `acknowledged positions, ${name} late, of those in order`,
      value: measured.rate / reference,
      unit: "",
      limit,
      bound: "at least",
      made: `${rate(measured.rate)} of ${rate(reference)}; p50 ${measured.p50.toFixed(1)} ms, p99 ${measured.p99.toFixed(1)} ms; ${measured.refused} refused`,
    }));
  } finally {
    await service.stop();
    removeFolder(directory);
  }
}
