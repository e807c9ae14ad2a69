import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { dataFolder, removeFolder } from "../../../test/support/service.ts";
import type { Fault, Scene } from "../fault.ts";
import { missing } from "../machine.ts";

/** How long calls fail or are slow at most, ms. */
const faultMs = 2500;

/**
 * strace lets system calls of a running process fail or wait: https://man7.org/linux/man-pages/man1/strace.1.html,
 * "Tampering". `record`: the file for what it did.
 */
function tamper(pid: number | undefined, calls: string, how: string, record: string): ChildProcess {
  const what = ["-s", "0", "-e", `trace=${calls}`, "-e", `inject=${calls}:${how}`];
  return spawn("strace", ["-f", "-qq", "-o", record, ...what, "-p", String(pid)], { stdio: "ignore" });
}

/** How many calls strace let fail or wait. */
function tamperedCalls(record: string): number {
  return readFileSync(record, "latin1").match(/\((?:INJECTED|DELAYED)\)$/gm)?.length ?? 0;
}

async function end(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  await gone;
}

/** Says why strace can't be used; undefined where it can. */
function noStrace(): string | undefined {
  const reason = missing("strace", "strace");
  if (reason !== undefined) return reason;
  const other = spawn("sleep", ["60"], { stdio: "ignore" });
  // It goes on until it is ended where it may attach.
  const { status } = spawnSync("strace", ["-o", "/dev/null", "-p", String(other.pid)], {
    timeout: 300,
    stdio: "ignore",
  });
  other.kill("SIGKILL");
  return status === null || status === 0 ? undefined : "needs the right to attach to a process (ptrace)";
}

async function tampered(scene: Scene, calls: string, how: () => string): Promise<void> {
  const folder = dataFolder();
  for (let round = 0; round < scene.rounds; round++) {
    await scene.start();
    await scene.report();
    const { child } = scene.service;
    const record = join(folder, String(round));
    const strace = tamper(child.pid, calls, how(), record);
    await scene.wait(faultMs);
    scene.must(strace.exitCode === null, "strace is attached");
    scene.must(child.exitCode === null, "the service goes on while its disk fails");
    // Half of the time the service is killed under the fault, so that what it could not write is never written.
    if (scene.random() < 0.5) {
      await scene.kill();
      scene.count("kills");
    }
    if (strace.exitCode === null) await end(strace);
    const times = tamperedCalls(record);
    scene.count("faults");
    scene.count("calls that failed or were slow", times);
    scene.must(times > 0, `some of the service's calls of ${calls} fail or are slow`);
    await scene.start();
    await scene.allAcknowledged();
  }
  removeFolder(folder);
}

const holds = "every tracker is acknowledged again, without a restart";

/** Calls that write to the disk fail, or take long. */
export const failingDisks: readonly Fault[] = [
  {
    name: "writes-fail",
    does: "every few writes to files fail with EIO; half of the time the service is killed meanwhile",
    holds,
    impossible: noStrace,
    run: (scene) => tampered(scene, "pwrite64", () => `error=EIO:when=1+${2 + Math.floor(scene.random() * 40)}`),
  },
  {
    name: "fsync-fails",
    does: "every few fsync fail with EIO; half of the time the service is killed meanwhile",
    holds,
    impossible: noStrace,
    run: (scene) => tampered(scene, "fsync,fdatasync", () => `error=EIO:when=1+${1 + Math.floor(scene.random() * 5)}`),
  },
  {
    name: "fsync-slow",
    does: "each fsync takes a tenth of a second to half a second more; half of the time the service is killed meanwhile",
    holds,
    impossible: noStrace,
    run: (scene) =>
      tampered(scene, "fsync,fdatasync", () => `delay_enter=${Math.floor(100_000 + scene.random() * 400_000)}`),
  },
];
