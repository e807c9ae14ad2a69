import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { call, dataFolder, register, removeFolder, startService } from "../test/support/service.ts";
import type { Figure } from "./support/figures.ts";
import { copyFirst } from "./support/fill-accounts.ts";
import { percentile } from "./support/percentile.ts";

const devices = 1_000_000;
const more = 200;

/** Copies of the first device, as if they had been registered. */
function fill(directory: string): void {
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  try {
    database.exec("begin");
    const id = "'made-' || i";
    copyFirst(database, "device", devices - 1 - more / 2, { id, name: id });
    database.exec("insert into device_identifier select id, key from device where id like 'made-%'");
    database.exec("commit");
  } finally {
    database.close();
  }
}

/** Registering devices around the millionth one, each after the one before. */
export async function million(): Promise<readonly Figure[]> {
  const directory = dataFolder();
  try {
    const environment = { WAYBEAM_LICENSES: String(2 * devices) };
    const first = await startService(directory, environment);
    await register(first, ["first"]);
    await first.stop();
    fill(directory);
    const service = await startService(directory, environment);
    const took: number[] = [];
    for (let at = 0; at < more; at++) {
      const began = performance.now();
      await call(service, "POST", "/api/devices", { id: `new-${at}`, name: `New ${at}` });
      took.push(performance.now() - began);
    }
    await service.stop();
    took.sort((one, other) => one - other);
    return [
      {
        ...{ name: "registering the millionth device", value: percentile(took, 0.5), unit: "ms" },
        ...{ limit: 5, bound: "under", made: `p50 of ${more}; p99 ${percentile(took, 0.99).toFixed(1)} ms` },
      },
    ];
  } finally {
    removeFolder(directory);
  }
}
