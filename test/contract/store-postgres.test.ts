import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before } from "node:test";
import { systemIds } from "../../src/observe/index.ts";
import { openPostgresRows } from "../../src/store/postgres/open.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { rowCommits } from "../support/row-commits.ts";
import { silentLog } from "../support/silent-log.ts";
import { storeContract } from "./store.contract.ts";

let server: PostgresServer | undefined;
if (!noPostgres)
  before(async () => {
    server = await PostgresServer.start();
  });

storeContract(
  "PostgreSQL",
  async () => {
    const directory = await mkdtemp(join(tmpdir(), "waybeam-store-"));
    const secrets = { file: join(directory, "secret.key"), ids: systemIds };
    const url = (await server?.database()) ?? "";
    return {
      open: async () => {
        const rows = await openPostgresRows(url, { log: silentLog, secrets });
        return Object.assign(rows, { locations: rowCommits(rows) });
      },
      dispose: () => rm(directory, { recursive: true }),
    };
  },
  { parts: "rows", skip: noPostgres },
);
