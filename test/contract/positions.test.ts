import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqlitePositions } from "../../src/store/positions/sqlite/open.ts";
import { silentLog } from "../support/silent-log.ts";
import { positionContract } from "./positions.contract.ts";

positionContract("SQLite", async () => {
  const directory = await mkdtemp(join(tmpdir(), "waybeam-positions-"));
  return {
    async open() {
      const store = await openSqlitePositions({ file: join(directory, "positions.db"), log: silentLog });
      const settle = () => {
        store.followed(Number.POSITIVE_INFINITY);
        return store.pack();
      };
      return Object.assign(store, { settle, kill: () => store.terminate() });
    },
    dispose: () => rm(directory, { recursive: true }),
  };
});
