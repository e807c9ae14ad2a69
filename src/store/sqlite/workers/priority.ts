import { readlinkSync } from "node:fs";
import { constants, getPriority, platform, setPriority } from "node:os";

/** A thread that is nicer by this gets a tenth of a processor where others could use all of it (sched(7)). */
const nicer = 10;

/**
 * Lets the calling thread give way to all others of the process. Linux gives each thread a priority of its own
 * (setpriority(2), "C library/kernel differences"); elsewhere this does nothing.
 */
export function giveWay(): void {
  if (platform() !== "linux") return;
  try {
    const thread = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
    // From where the service itself was put by whoever started it, as by systemd's `Nice=`.
    setPriority(thread, Math.min(getPriority(thread) + nicer, constants.priority.PRIORITY_LOW));
  } catch {
    // Where /proc is not mounted, or a sandbox forbids the call, the thread competes as all others do.
  }
}
