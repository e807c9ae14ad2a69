import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { atEnd } from "../../../test/support/at-end.ts";
import { dataFolder, removeFolder } from "../../../test/support/service.ts";
import type { Fault, Scene } from "../fault.ts";
import { missing, run } from "../machine.ts";

/** Room for what trackers report beside the data that is there, bytes. */
const roomBytes = 64 * 1024 * 1024;
/** What is left free at most when the disk fills: less than the log takes, bytes. */
const leftBytes = 2 * 1024 * 1024;
/** How long the disk stays full at most, ms. */
const fullMs = 2500;

function bytesOf(directory: string): number {
  return readdirSync(directory, { recursive: true, encoding: "utf8" }).reduce(
    (sum, name) => sum + statSync(join(directory, name)).size,
    0,
  );
}

/** Takes what is free on the file system of a folder, but for some bytes. Gives how it becomes free again. */
export function fill(directory: string, left: number): () => void {
  const filler = join(directory, "filler");
  const { bavail, bsize } = statfsSync(directory);
  try {
    writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - left)));
  } catch (error) {
    // Others took what was free meanwhile: so it is full.
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  }
  return () => rmSync(filler);
}

/**
 * A folder in memory of a limited size, with a copy of the data; `work` is done there, and what is there then is the
 * data.
 */
async function onSmallDisk(scene: Scene, work: (disk: string) => Promise<void>): Promise<void> {
  const { directory, start, stop, kill } = scene;
  // What is not there yet can't be copied.
  await start();
  await stop();
  const disk = dataFolder();
  run("mount", "-t", "tmpfs", "-o", `size=${bytesOf(directory) + roomBytes},mode=700`, "tmpfs", disk);
  const unmount = () => void run("umount", disk);
  const forget = atEnd(unmount);
  const data = join(disk, "data");
  cpSync(directory, data, { recursive: true });
  try {
    await work(data);
    await stop();
  } finally {
    await kill();
    removeFolder(directory);
    cpSync(data, directory, { recursive: true });
    unmount();
    forget();
    removeFolder(disk);
  }
}

/** Why no small disk can be made; undefined: it can. */
export function noMount(): string | undefined {
  const disk = dataFolder();
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], { stdio: "ignore" });
  if (status === 0) run("umount", disk);
  removeFolder(disk);
  return status === 0 ? undefined : "needs the right to mount a small file system (root)";
}

/** Whether the service says that it works. */
export async function isReady({ service }: Scene): Promise<boolean> {
  return (await fetch(`${service.url}/health/ready`)).status !== 503;
}

const fullDisk: Fault = {
  name: "full-disk",
  does: "the disk fills while trackers report, and has room again; every other time the service is killed meanwhile",
  holds: "every tracker is acknowledged again, without a restart",
  impossible: noMount,
  run: (scene) =>
    onSmallDisk(scene, async (directory) => {
      await scene.start({ directory });
      for (let round = 0; round < scene.rounds; round++) {
        await scene.report();
        const empty = fill(join(directory, ".."), scene.random() * leftBytes);
        await scene.wait(fullMs);
        scene.must(scene.service.child.exitCode === null, "the service goes on while the disk is full");
        if (!(await isReady(scene))) scene.count("not ready while full");
        if (round % 2 === 1) await scene.kill();
        empty();
        scene.count("times full");
        if (round % 2 === 1) await scene.start({ directory });
        await scene.allAcknowledged();
      }
    }),
};

/**
 * Sets how large the files may become that a process writes. A write beyond it is cut short, and the next one fails.
 */
function limitFiles(pid: number | undefined, bytes: number | "unlimited"): void {
  run("prlimit", `--pid=${pid}`, `--fsize=${bytes}:`);
}

const fileLimit: Fault = {
  name: "file-limit",
  does: "files may not grow (RLIMIT_FSIZE), at random below and above their size, so that writes are cut short and fail",
  holds: "every tracker is acknowledged again, without a restart",
  impossible: () => missing("prlimit", "util-linux"),
  run: async (scene) => {
    const { directory, rounds, start, report, wait, random, allAcknowledged, count, must } = scene;
    for (let round = 0; round < rounds; round++) {
      await start();
      await report();
      const { child } = scene.service;
      limitFiles(child.pid, Math.floor(random() * 1.2 * statSync(join(directory, "waybeam.db-wal")).size));
      await wait(fullMs);
      must(child.exitCode === null, "the service goes on while its files can't grow");
      if (!(await isReady(scene))) count("not ready while limited");
      limitFiles(child.pid, "unlimited");
      count("limits");
      await allAcknowledged();
    }
  },
};

/** There is no room for what is to be written. */
export const fullDisks: readonly Fault[] = [fullDisk, fileLimit];
