import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemIds } from "../../src/observe/index.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { silentLog } from "../support/silent-log.ts";
import { storeContract } from "./store.contract.ts";

storeContract("SQLite", async () => {
  const directory = await mkdtemp(join(tmpdir(), "waybeam-store-"));
  const secrets = { file: join(directory, "secret.key"), ids: systemIds };
  return {
    open: () => openSqliteStore({ directory, log: silentLog, pid: process.pid, secrets }),
    dispose: () => rm(directory, { recursive: true }),
  };
});
