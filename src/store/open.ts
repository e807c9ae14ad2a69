import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../ports/log.ts";
import type { OpenedStore } from "./opened.ts";
import type { SecretOptions } from "./secrets/unlock.ts";

/** How to open the store of a service. */
export interface StoreOptions {
  /** Address of a PostgreSQL database. Empty: the store is embedded. */
  readonly url: string;
  /** Connections to it, for everything but positions. */
  readonly connections: number;
  /** The data folder. With PostgreSQL it holds keys and credentials only. */
  readonly directory: string;
  readonly refusedBytes: number;
  readonly commandsPerDevice: number;
  readonly noticesPerDevice: number;
  readonly packFromBytes: number;
  readonly mostLogBytes: number;
  readonly log: Log;
  readonly pid: number;
  readonly uid: number | undefined;
  readonly secrets: SecretOptions;
  /** Called once when the store can't go on and must be opened anew: see `PostgresStoreOptions`. */
  readonly onTakenOver?: (error: unknown) => void;
}

/** Opens the store that the settings choose. The code of the other engine is not loaded. */
export async function openStore(options: StoreOptions): Promise<OpenedStore> {
  const { url, directory, log, uid } = options;
  if (url === "") {
    const { openSqliteStore } = await import("./sqlite/open.ts");
    return openSqliteStore(options);
  }
  const { makeFolder } = await import("./sqlite/folder.ts");
  const { closeToOthers } = await import("./sqlite/private-files.ts");
  makeFolder(directory);
  closeToOthers(directory, uid, log);
  if (existsSync(join(directory, "waybeam.db")))
    log.warn(
      { folder: directory },
      "the data folder holds a database of the embedded store, which is not used: the setting store.url names another",
    );
  const { openPostgresStore } = await import("./postgres/open-store.ts");
  return openPostgresStore(url, options);
}
