import { readlinkSync } from "node:fs";
import { platform, setPriority } from "node:os";

/** A thread of this niceness gets a tenth of a processor where others could use all of it (sched(7)). */
const niceness = 10;

/**
 * Lets the calling thread give way to all others of the machine. Linux gives each thread a priority of its own (setpriority(2), "C library/kernel differences");
 * elsewhere this does nothing.
 */
export function giveWay(): void {
  if (platform() !== "linux") return;
  try {
    setPriority(Number(readlinkSync("/proc/thread-self").split("/").at(-1)), niceness);
  } catch {
    // Where /proc is not mounted, or a sandbox forbids the call, the thread competes as all others do.
  }
}
