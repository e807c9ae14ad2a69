import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { dataVersion } from "../../../src/store/migrations/migrations.ts";
import { backToBlocks } from "../../../test/support/older-data.ts";
import { anyPorts, dataFolder, removeFolder } from "../../../test/support/service.ts";
import { commandLine } from "../../../test/support/waybeam.ts";
import type { Fault } from "../fault.ts";
import { Interruptions } from "../interruptions.ts";
import { noPreload } from "../preload.ts";

/** How often the start is killed before it may end. */
const killsInARow = 3;

function makeOlder(directory: string): void {
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  backToBlocks(database);
  database.close();
}

/** The version of the data in a folder that stays as it is. */
function versionIn(directory: string): number {
  const copy = dataFolder();
  for (const name of readdirSync(directory).filter((each) => /^waybeam\.db(-wal)?$/.test(each)))
    cpSync(join(directory, name), join(copy, name));
  const database = new DatabaseSync(join(copy, "waybeam.db"));
  const version = Number(database.prepare("select max(number) as number from migration").get()?.number);
  database.close();
  removeFolder(copy);
  return version;
}

/** The start brings data of an older version up to date, and is killed. */
export const migration: Fault = {
  name: "kill-migration",
  does: "SIGKILL at a random operation of a start that brings data of version 13 up to date, several times in a row; half of the time the disk loses its power, too",
  impossible: noPreload,
  run: async (scene) => {
    const { directory, rounds, start, report, stop, count } = scene;
    const starts = new Interruptions(scene, "starts");
    const serving = commandLine(directory);
    for (let round = 0; round < rounds; round++) {
      await start();
      await report();
      await stop();
      makeOlder(directory);
      for (let times = 0; times < killsInARow && versionIn(directory) < dataVersion; times++) {
        await starts.run(directory, true, (environment) =>
          serving.start(["serve"], { ...anyPorts, WAYBEAM_LOG_LEVEL: "silent", ...environment }),
        );
        if (versionIn(directory) < dataVersion) count("left at the older version");
      }
    }
    await start();
  },
};
