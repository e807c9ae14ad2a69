import { dataFolder, end, register, removeFolder, type Service, startService } from "../test/support/service.ts";
import { avlImei, avlImeis } from "./support/avl.ts";
import type { Figure } from "./support/figures.ts";
import { program, registering, residentBytes } from "./support/processes.ts";

const devices = 10_000;
const trackers = 15_000;
/** Long enough for the collector to have done its idle work. */
const settleMs = 4000;

const settle = () => new Promise((resolve) => setTimeout(resolve, settleMs));
const mib = (bytes: number) => bytes / 2 ** 20;

async function trackerBytes(service: Service): Promise<Figure> {
  const extra = Array.from({ length: trackers - devices }, (_, index) => avlImei(devices + index));
  await register(service, extra, registering);
  await settle();
  const pid = service.child.pid ?? 0;
  const before = residentBytes(pid);
  const { child } = await program<{ loggedIn: number }>("idle-trackers", [service.devicePort, trackers]);
  await settle();
  const after = residentBytes(pid);
  await end(child);
  return {
    name: `memory for each of ${trackers} connected idle trackers`,
    value: (after - before) / trackers / 1024,
    unit: "KiB",
    limit: 16,
    bound: "under",
    made: `from ${mib(before).toFixed(0)} to ${mib(after).toFixed(0)} MiB`,
  };
}

/** Start to ready with 10,000 devices, memory when idle, and memory for each connected tracker. */
export async function idle(): Promise<readonly Figure[]> {
  const directory = dataFolder();
  try {
    const first = await startService(directory, { WAYBEAM_LICENSES: String(trackers) });
    await register(first, avlImeis(devices), registering);
    await first.stop();
    const service = await startService(directory);
    try {
      await settle();
      const resident = residentBytes(service.child.pid ?? 0);
      return [
        {
          name: `start to ready with ${devices} devices`,
          value: service.readyAfter / 1000,
          unit: "s",
          limit: 1.5,
          bound: "under",
          made: "",
        },
        { name: "resident memory, idle", value: mib(resident), unit: "MiB", limit: 150, bound: "under", made: "" },
        await trackerBytes(service),
      ];
    } finally {
      await service.stop();
    }
  } finally {
    removeFolder(directory);
  }
}
