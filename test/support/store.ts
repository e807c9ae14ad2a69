import { join } from "node:path";
import { systemIds } from "../../src/observe/index.ts";
import type { Log } from "../../src/ports/log.ts";
import type { OpenedStore } from "../../src/store/opened.ts";
import type { SecretOptions } from "../../src/store/secrets/unlock.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { atEnd } from "./at-end.ts";
import { silentLog } from "./silent-log.ts";

/** What opens the secrets that a service keeps in this folder. */
export const secretsOf = (directory: string): SecretOptions => ({
  file: join(directory, "secret.key"),
  ids: systemIds,
});

/** Opens the store of a folder, with its secrets where a test reads them. One that its test does not close is closed at the end of the test file. */
export async function openStore(
  directory: string,
  log: Log = silentLog,
  secrets?: SecretOptions,
): Promise<OpenedStore> {
  const store = await openSqliteStore({ directory, log, pid: process.pid, ...(secrets && { secrets }) });
  const { close: closeStore } = store;
  let closed: Promise<void> | undefined;
  const close = () => {
    forget();
    closed ??= closeStore();
    return closed;
  };
  const forget = atEnd(close);
  return Object.defineProperty(store, "close", { value: close });
}
