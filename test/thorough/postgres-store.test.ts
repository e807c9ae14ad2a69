import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before } from "node:test";
import { systemIds } from "../../src/observe/index.ts";
import { openPostgresStore } from "../../src/store/postgres/open-store.ts";
import { storeContract } from "../contract/store.contract.ts";
import { noPostgres, PostgresServer, template } from "../support/postgres.ts";
import { silentLog } from "../support/silent-log.ts";

let server: PostgresServer | undefined;
if (!noPostgres)
  before(async () => {
    server = await PostgresServer.start();
    await server.makeTemplate();
  });

storeContract(
  "PostgreSQL",
  async () => {
    const directory = await mkdtemp(join(tmpdir(), "waybeam-store-"));
    const secrets = { file: join(directory, "secret.key"), ids: systemIds };
    const url = (await server?.database(`template ${template}`)) ?? "";
    return {
      open: () => openPostgresStore(url, { log: silentLog, secrets }),
      dispose: () => rm(directory, { recursive: true }),
    };
  },
  { skip: noPostgres },
);
