import { join } from "node:path";
import { systemIds } from "../../src/observe/index.ts";
import type { Log } from "../../src/ports/log.ts";
import type { OpenedStore } from "../../src/store/opened.ts";
import type { SecretOptions } from "../../src/store/secrets/unlock.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { closedAtEnd } from "./at-end.ts";
import { onPostgres, storeUrl } from "./engine.ts";
import { openPostgres } from "./postgres-store.ts";
import { silentLog } from "./silent-log.ts";

/** What opens the secrets that a service keeps in this folder. */
export const secretsOf = (directory: string): SecretOptions => ({
  file: join(directory, "secret.key"),
  ids: systemIds,
});

/**
 * Opens the store of a folder, with its secrets where a test reads them. One that its test does not close is closed at
 * the end of the test file.
 */
export async function openStore(
  directory: string,
  log: Log = silentLog,
  secrets?: SecretOptions,
): Promise<OpenedStore> {
  const sealed = secrets && { secrets };
  if (onPostgres) return openPostgres(await storeUrl(directory), log, sealed);
  return closedAtEnd(await openSqliteStore({ directory, log, pid: process.pid, ...sealed }));
}
