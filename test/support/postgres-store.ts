import type { Log } from "../../src/ports/log.ts";
import type { OpenedStore } from "../../src/store/opened.ts";
import { openPostgresStore, type PostgresStoreOptions } from "../../src/store/postgres/open-store.ts";
import { closedAtEnd } from "./at-end.ts";
import { silentLog } from "./silent-log.ts";

/** Times for tests in which a server is away. */
export const shortTimes = { connect: 1000, statement: 2000, idle: 10_000 };

/** Opens the store of a database. One that its test does not close is closed at the end of the test file. */
export async function openPostgres(
  url: string,
  log: Log = silentLog,
  options: Partial<PostgresStoreOptions> = {},
): Promise<OpenedStore> {
  return closedAtEnd(await openPostgresStore(url, { log, ...options }));
}
