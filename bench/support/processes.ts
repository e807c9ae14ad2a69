import { type ChildProcess, fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Runs one of the bench's own programs with an IPC channel, and gives its first message. */
export async function program<T>(
  name: string,
  args: readonly (string | number)[] = [],
): Promise<{ child: ChildProcess; first: T }> {
  const child = fork(join(import.meta.dirname, `${name}.ts`), args.map(String), {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const first = await new Promise<T>((resolve, reject) => {
    child.once("message", (message) => resolve(message as T));
    child.once("exit", (code) => reject(new Error(`${name} ended with ${code} before it said anything`)));
  });
  return { child, first };
}

/** Resident memory of a process, bytes (Linux: /proc/PID/status). */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}

/** Progress of a registration, for people. */
export function registering(left: number): void {
  process.stderr.write(`  ${left} devices to register\n`);
}

/** Time of the processors that a process has used, ms (Linux: /proc/PID/stat, in hundredths of a second). */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
