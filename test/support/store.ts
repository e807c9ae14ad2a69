import type { Log } from "../../src/ports/log.ts";
import { openSqliteStore, type SqliteStore } from "../../src/store/sqlite/open.ts";
import { atEnd } from "./at-end.ts";
import { silentLog } from "./silent-log.ts";

/** Opens the store of a folder. One that its test does not close is closed at the end of the test file. */
export async function openStore(directory: string, log: Log = silentLog): Promise<SqliteStore> {
  const store = await openSqliteStore({ directory, log, pid: process.pid });
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
