import { type Kysely, sql } from "kysely";
import type { Ids } from "../../ports/ids.ts";
import type { Log } from "../../ports/log.ts";
import type { Schema } from "../schema.ts";
import { readKeys, SecretKeyUnusable, writeKeys } from "./key-file.ts";
import { sealAll, sealSettings } from "./sealed-rows.ts";
import { createVault, keyBytes, type SecretKey, secretKey, type Vault } from "./vault.ts";

/** Where the keys of the secrets are, and whether a new one is to be made. */
export interface SecretOptions {
  /** The file of the keys, outside the database. It is made when there is neither the file nor a sealed database. */
  readonly file: string;
  readonly ids: Pick<Ids, "secret">;
  /** Makes a new key and seals everything with it. A rotation that was cut short is finished instead. */
  readonly rotate?: boolean;
}

/** What an engine does by itself for the secrets in its database. */
export interface SecretEngine {
  /** Whether there is the table of settings yet. */
  hasSettings(database: Kysely<Schema>): Promise<boolean>;
  /** Removes what files still hold of secrets from before they were sealed. A failure is logged and not thrown. */
  wipe(database: Kysely<Schema>, log: Log): Promise<void>;
}

/** Settings that name the key that seals everything, and during a rotation the key that will. */
const sealedBy = "sealedBy";
const sealingBy = "sealingBy";
/** The names of both. */
export const sealingSettings = [sealedBy, sealingBy] as const;

/**
 * Makes the keys ready when the tables are up to date: seals what the present key has not sealed yet, and drops older
 * keys.
 */
export type Settle = () => Promise<Vault>;

type Keys = readonly [SecretKey, ...SecretKey[]];

/**
 * Reads the keys of a database's secrets before anything of it is changed; nothing is written before the answer is
 * called. Throws `SecretKeyUnusable` where the file is missing or holds other keys than the database was sealed by.
 */
export async function unlock(
  database: Kysely<Schema>,
  engine: SecretEngine,
  options: SecretOptions,
  log: Log,
): Promise<Settle> {
  const { file, ids } = options;
  const needed = (await engine.hasSettings(database)) ? await keysOf(database) : [];
  const found = checkKeys(file, needed);
  return async () => {
    const keys = renewed(found, needed, options);
    // On disk before anything is sealed by it.
    if (keys !== found) writeKeys(file, keys);
    const vault = createVault(keys, ids);
    await settle({ database, engine, vault, file, keys, log });
    return vault;
  };
}

/**
 * Reads the file of the keys. Undefined where there is none. Throws `SecretKeyUnusable` where it holds not all keys
 * that are needed.
 */
export function checkKeys(file: string, needed: readonly string[]): Keys | undefined {
  const found = readKeys(file);
  if (found === undefined && needed.length > 0) throw missing(file);
  const held = new Set(found?.map(({ id }) => id));
  if (needed.some((id) => !held.has(id))) throw wrong(file);
  return found;
}

/**
 * The keys from now on: the first one where there is none, one more where it is asked for and no other change of keys
 * is under way.
 */
function renewed(found: Keys | undefined, needed: readonly string[], { ids, rotate }: SecretOptions): Keys {
  if (found === undefined) return [newKey(ids)];
  const settled = found.length === 1 && (needed.length === 0 || needed.join() === found[0].id);
  return rotate === true && settled ? [newKey(ids), ...found] : found;
}

interface Settling {
  readonly database: Kysely<Schema>;
  readonly engine: SecretEngine;
  readonly vault: Vault;
  readonly file: string;
  readonly keys: Keys;
  readonly log: Log;
}

async function settle({ database, engine, vault, file, keys, log }: Settling): Promise<void> {
  const needed = await keysOf(database);
  // What a version before did not seal yet.
  const added = needed.join() === vault.current ? await sealSettings(database, vault) : 0;
  if (added > 0) await engine.wipe(database, log);
  if (needed.join() !== vault.current) {
    await note(database, sealingBy, vault.current);
    const { sealed, damaged } = await sealAll(database, vault);
    if (damaged.length > 0) tellDamaged(damaged, log);
    if (sealed > 0) await engine.wipe(database, log);
    await note(database, sealedBy, vault.current);
    await database.deleteFrom("setting").where("name", "=", sealingBy).execute();
    if (sealed > 0) log.info({ key: vault.current }, "the secrets in the database are sealed by the present key");
  }
  if (keys.length > 1) letGo(file, keys, log);
}

/** Ids of damaged rows that the log names. */
const namedRows = 20;

function tellDamaged(ids: readonly string[], log: Log): void {
  log.error(
    { rows: ids.length, ids: ids.slice(0, namedRows) },
    "secrets of alert rules and notifications are damaged in the database and stay as they are: set these rules' webhooks anew",
  );
}

/** Takes the older keys out of the file, once nothing needs them. */
function letGo(file: string, [current]: Keys, log: Log): void {
  try {
    writeKeys(file, [current]);
  } catch (error) {
    log.warn(
      { file, error },
      "the older keys of the secrets are no longer needed, and can't be taken out of their file",
    );
  }
}

/**
 * What the keys are called that the database's secrets are sealed by; none where it is new, or of a version without
 * them.
 */
async function keysOf(database: Kysely<Schema>): Promise<readonly string[]> {
  // Raw SQL goes to the writer of an engine that has one: a reader is opened only when all tables are there.
  const found = await sql<{
    value: string;
  }>`select distinct value from setting where name in (${sql.join(sealingSettings)})`.execute(database);
  return found.rows.map(({ value }) => value);
}

async function note(database: Kysely<Schema>, name: string, value: string): Promise<void> {
  await database
    .insertInto("setting")
    .values({ name, value })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))
    .execute();
}

function newKey(ids: Pick<Ids, "secret">): SecretKey {
  return secretKey(Buffer.from(ids.secret(keyBytes), "base64url"));
}

const restore =
  "Put the file back from where the backup of the key is, or set WAYBEAM_SECRET_FILE to it; nothing was changed.";

function missing(file: string): SecretKeyUnusable {
  return new SecretKeyUnusable(`the secret key ${file} is missing, by which the database is sealed`, restore);
}

function wrong(file: string): SecretKeyUnusable {
  return new SecretKeyUnusable(`the secret key ${file} is not the one by which the database is sealed`, restore);
}
