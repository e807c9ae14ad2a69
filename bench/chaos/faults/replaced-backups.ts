import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { dataFolder, removeFolder } from "../../../test/support/service.ts";
import { commandLine } from "../../../test/support/waybeam.ts";
import type { Fault, Scene } from "../fault.ts";
import { Interruptions } from "../interruptions.ts";
import { noPreload } from "../preload.ts";

/** How often each command is killed before it may end. */
const killsInARow = 2;

/** The only place of a backup that is replaced again and again. */
class Place {
  readonly target: string;
  readonly #scene: Scene;
  readonly #folder: string;
  readonly #backups: Interruptions;
  /** Records that were acknowledged before the last backup began that was made. */
  #promised: number | undefined;

  constructor(scene: Scene, folder: string) {
    this.#scene = scene;
    this.#folder = folder;
    this.target = join(folder, "backup");
    this.#backups = new Interruptions(scene, "backups");
  }

  /** Makes backups that are killed. After each, the one before is whole or the new one is. */
  async disturb(): Promise<void> {
    const { directory, promised, must } = this.#scene;
    for (let times = 0; times < killsInARow; times++) {
      const before = promised();
      const outcome = await this.#backups.run(this.#folder, true, (environment) =>
        commandLine(directory).start(["backup", "--replace", this.target], environment),
      );
      if (outcome !== "killed") {
        must(outcome.code === 0, `a backup that nobody kills is made: ${outcome.err}`);
        this.#promised = before;
      }
      await this.#judge();
    }
  }

  /** Makes one that nobody disturbs. */
  async make(): Promise<void> {
    const { directory, promised, must } = this.#scene;
    const before = promised();
    const { code, err } = await commandLine(directory).waybeam(["backup", "--replace", this.target]);
    must(code === 0, `a backup is made after one that was killed: ${err}`);
    this.#promised = before;
    await this.#judge();
  }

  async #judge(): Promise<void> {
    const { must, count } = this.#scene;
    // Between its two steps, a replacement has the backup before there.
    const place = [this.target, join(`${this.target}.part`, "old")].find((each) => existsSync(each));
    if (place === undefined) {
      must(this.#promised === undefined, "a backup that was made stays until the next one is whole");
      return;
    }
    const { code, err } = await commandLine(this.#folder).waybeam(["check", place]);
    must(code === 0, `a backup that has its name is whole: ${err}`);
    const positions = Number(/ (\d+) positions of/.exec(err)?.[1] ?? 0);
    const { directory } = this.#scene;
    must(
      positions >= (this.#promised ?? 0),
      `a backup of ${directory} holds the ${this.#promised} positions that were acknowledged before it, not ${positions}`,
    );
    count("whole backups");
  }
}

/**
 * Puts the backup into the data folder, killed on its way and finished by another restore or by the start of the
 * service.
 */
async function restored(
  { directory, random, must, count }: Scene,
  target: string,
  restores: Interruptions,
): Promise<void> {
  const { start, waybeam } = commandLine(directory);
  const args = ["restore", "--replace", target];
  for (let times = 0; times < killsInARow; times++) {
    const outcome = await restores.run(directory, true, (environment) => start(args, environment));
    if (outcome !== "killed") must(outcome.code === 0, `a restore that nobody kills ends: ${outcome.err}`);
  }
  if (random() < 0.5) {
    const { code, err } = await waybeam(args);
    must(code === 0, `a backup is restored after a restore that was killed: ${err}`);
    count("restores");
  }
}

/** What restores moved away. */
function dropReplaced(directory: string): void {
  for (const name of readdirSync(directory).filter((each) => each.startsWith("replaced-")))
    rmSync(join(directory, name), { recursive: true });
}

/** Backups take the place of one another, and at last the data folder's. */
export const replacedBackups: Fault = {
  name: "kill-replace",
  does: "SIGKILL of `backup --replace` while trackers report, and of `restore --replace` of the last backup, at random operations; half of the time the disk loses its power, too",
  holds: "there is always a whole backup, and the restored data are what the trackers know",
  impossible: noPreload,
  run: async (scene) => {
    const folder = dataFolder();
    const place = new Place(scene, folder);
    const restores = new Interruptions(scene, "restores");
    for (let round = 0; round < scene.rounds; round++) {
      await scene.start();
      await scene.report();
      await place.disturb();
      await scene.report();
      await scene.stop();
      await place.make();
      await restored(scene, place.target, restores);
      await scene.start();
      dropReplaced(scene.directory);
    }
    removeFolder(folder);
  },
};
