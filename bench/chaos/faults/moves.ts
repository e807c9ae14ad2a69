import { renameSync } from "node:fs";
import { join } from "node:path";
import { noPostgres, PostgresServer } from "../../../test/support/postgres.ts";
import { dataFolder, removeFolder } from "../../../test/support/service.ts";
import { commandLine } from "../../../test/support/waybeam.ts";
import type { Fault, Scene } from "../fault.ts";
import { Interruptions } from "../interruptions.ts";
import { noPreload } from "../preload.ts";

/** How often a move is killed before it may end. */
const killsInARow = 3;

/** Moves a store, killed on its way. `power`: the disk of this folder may lose its power. */
async function moved(
  { directory, must, count }: Scene,
  moves: Interruptions,
  args: readonly string[],
  disk: { readonly folder: string; readonly power: boolean },
): Promise<void> {
  const { start, waybeam } = commandLine(directory);
  const command = ["move-store", ...args];
  for (let times = 0; times < killsInARow; times++) {
    const outcome = await moves.run(disk.folder, disk.power, (environment) => start(command, environment));
    if (outcome === "killed") continue;
    must(outcome.code === 0, `a move that nobody kills ends: ${outcome.err}`);
    count("moves");
    return;
  }
  const { code, err } = await waybeam(command);
  must(code === 0, `a move that was killed goes on: ${err}`);
  count("moves");
}

/** To a database, where the service goes on, and back to a folder. */
async function round(scene: Scene, url: string, moves: readonly [Interruptions, Interruptions]): Promise<void> {
  const { directory, start, report, stop, kill, random } = scene;
  const [there, back] = moves;
  await start();
  await report();
  await stop();
  await moved(scene, there, ["--to", url], { folder: directory, power: false });
  await start({ environment: { WAYBEAM_STORE_URL: url } });
  await report();
  if (random() < 0.5) await stop();
  else await kill();
  const folder = dataFolder();
  const made = join(folder, "back");
  await moved(scene, back, ["--from", url, "--to", made], { folder, power: true });
  removeFolder(directory);
  renameSync(made, directory);
  removeFolder(folder);
  await start();
}

/** The store moves to PostgreSQL and back. */
export const moves: Fault = {
  name: "kill-move",
  does: "SIGKILL of `move-store` at random operations, to PostgreSQL and back; half of the time the disk of the folder that is filled loses its power, too",
  impossible: () => noPreload() ?? (noPostgres || undefined),
  run: async (scene) => {
    const server = await PostgresServer.start();
    const both = [
      new Interruptions(scene, "moves to PostgreSQL"),
      new Interruptions(scene, "moves to a folder"),
    ] as const;
    try {
      for (let number = 0; number < scene.rounds; number++) await round(scene, await server.database(), both);
    } finally {
      await server.dispose();
    }
  },
};
