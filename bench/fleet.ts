import { setTimeout as sleep } from "node:timers/promises";
import { dataFolder, end, removeFolder, startService } from "../test/support/service.ts";
import type { Figure } from "./support/figures.ts";
import { fillDevices } from "./support/fill-blocks.ts";
import { program, residentBytes } from "./support/processes.ts";

const devices = 100_000;
/** Reports of each device, and seconds from one to the next. */
const reports = 2;
const everySeconds = 60;
/** Long enough for the collector's idle work. */
const settleMs = 5000;

const mib = (bytes: number) => bytes / 2 ** 20;

/** Memory of a service to which 100,000 devices report. */
export async function fleet(): Promise<readonly Figure[]> {
  const directory = dataFolder();
  try {
    await fillDevices(directory, devices);
    const service = await startService(directory);
    try {
      const pid = service.child.pid ?? 0;
      await sleep(settleMs);
      const before = residentBytes(pid);
      const { child, first } = await program<{ refused: number }>("http-reports", [
        service.devicePort,
        devices,
        reports,
        everySeconds,
      ]);
      await end(child);
      if (first.refused > 0) throw new Error(`${first.refused} reports were refused`);
      await sleep(settleMs);
      const after = residentBytes(pid);
      const made = `${reports} reports of each, one connection for many devices; ${mib(before).toFixed(0)} MiB before, ${((after - before) / devices / 1024).toFixed(1)} KiB for each device`;
      return [{ name: `resident memory, ${devices} devices reporting`, value: mib(after), unit: "MiB", made }];
    } finally {
      await service.stop();
    }
  } finally {
    removeFolder(directory);
  }
}
