import { existsSync } from "node:fs";
import { join } from "node:path";
import { dataFolder, removeFolder } from "../../../test/support/service.ts";
import { commandLine, ended, killedAfter } from "../../../test/support/waybeam.ts";
import type { Fault, Scene } from "../fault.ts";

/** The latest time after which a backup is killed, ms. */
const workMs = 1500;

/**
 * Checks a backup: it must be whole and hold all that was acknowledged before it began. Returns whether there is a
 * backup.
 */
async function judge(target: string, promised: number, { must }: Scene): Promise<boolean> {
  if (!existsSync(target)) return false;
  const { code, err } = await commandLine(target).waybeam(["check", target]);
  must(code === 0, `a backup that has its name is whole: ${err}`);
  const positions = Number(/ (\d+) positions of/.exec(err)?.[1] ?? 0);
  must(
    positions >= promised,
    `a backup holds the ${promised} positions that were acknowledged before it, not ${positions}`,
  );
  return true;
}

async function round(scene: Scene, folder: string, number: number): Promise<void> {
  const { directory, start, report, kill, random, count, must } = scene;
  await start();
  await report();
  const promised = scene.promised();
  const target = join(folder, `backup${number}`);
  const { start: run, waybeam } = commandLine(directory);
  const child = run(["backup", target]);
  // In turn, the backup is killed, the service is killed, or both go on.
  const kinds = ["backup", "service", "nothing"] as const;
  const killed = kinds[(number + Math.floor(random() * kinds.length)) % kinds.length];
  const finished = ended(child);
  if (killed === "backup") {
    await killedAfter(child, `${target}.part`, random() * workMs);
    count("backups killed");
  } else if (killed === "service") {
    await scene.wait(workMs);
    await kill();
    count("services killed");
  }
  const { code, err } = await finished;
  if (killed !== "backup") must(code === 0, `a backup that nobody kills is made: ${err}`);
  if (await judge(target, promised, scene)) count("whole backups");
  else must(killed === "backup", "a backup that nobody kills has its name");
  if (code === 0) return;
  // The remains of a killed backup must not stop the next one.
  const again = await waybeam(["backup", target]);
  must(again.code === 0, `a backup is made after one that was killed: ${again.err}`);
  if (await judge(target, promised, scene)) count("whole backups");
}

/** Backups are taken meanwhile, and they or the service are killed. */
export const backups: Fault = {
  name: "kill-backup",
  does: "a backup while trackers report; SIGKILL of the backup or of the service meanwhile",
  holds: "a backup that has its name is whole, and holds what was acknowledged before it began",
  run: async (scene) => {
    const folder = dataFolder();
    for (let number = 0; number < scene.rounds; number++) await round(scene, folder, number);
    removeFolder(folder);
  },
};
