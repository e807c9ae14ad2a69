import { resolve } from "node:path";
import type { Log } from "../../ports/log.ts";
import { StoreUnavailable } from "../../ports/store.ts";
import type { LongWork } from "../backup/refused.ts";
import { EngineError } from "../failures.ts";
import { StoreNotEmpty } from "../migrations/migrations.ts";
import { type Copied, compareAll, copyAll } from "./copy.ts";
import { checkKeys, copyKeys, type KeyPlaces } from "./keys.ts";
import { MoveRefused, runAgain } from "./refused.ts";
import type { Side } from "./side.ts";
import { SqliteSide } from "./sqlite-side.ts";

/** What to move, and who does it. */
export interface MoveOptions {
  /** A data folder, or the address of a PostgreSQL database; `to` is one of the other kind. */
  readonly from: string;
  readonly to: string;
  /** The data folder of the configuration: it has the keys of a database. */
  readonly data: string;
  /** The file of the secret key, if the configuration names one. */
  readonly secretFile: string;
  /** Ends the move also where the source is damaged. */
  readonly acceptDamage: boolean;
  readonly log: Log;
  /** Number of this process. */
  readonly pid: number;
}

/** What was moved. */
export interface Moved extends Copied {
  readonly from: string;
  readonly to: string;
  /** The data folder that has the keys of the target: the target itself, if it is a folder. */
  readonly folder: string;
  readonly toFolder: boolean;
  /** Where the target is not what the source is. */
  readonly differences: readonly string[];
  /** A service may use the target. */
  readonly isWhole: boolean;
}

/** Whether a place is a database, and no folder. */
export function isAddress(place: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(place);
}

/**
 * Copies a store into one of the other engine, reads both, and compares them. After a failure, the same call begins
 * anew. The source keeps what it holds. Rejects with `MoveRefused`, and with what opening a store of either engine
 * rejects with.
 */
export async function moveStore(options: MoveOptions, work: LongWork): Promise<Moved> {
  const { from, to, data, secretFile } = options;
  checkPlaces(from, to);
  const folder = resolve(isAddress(from) ? to : from);
  const keys: KeyPlaces = { from: isAddress(from) ? resolve(data) : folder, to: folder, secretFile };
  try {
    const source = await openSource(options);
    try {
      // Before the target is made.
      checkKeys(keys, await source.keyIds());
      const target = await openTarget(options);
      let isWhole = false;
      try {
        const moved = await move(source, target, keys, options, work);
        ({ isWhole } = moved);
        return { ...moved, from: source.shown, to: target.shown, folder, toFolder: !isAddress(to) };
      } finally {
        await target.close(isWhole);
      }
    } finally {
      await source.close(false);
    }
  } catch (error) {
    throw failure(error, folder);
  }
}

function checkPlaces(from: string, to: string): void {
  for (const place of [from, to])
    if (!isAddress(place) && /^[a-z][a-z\d+.-]*:\/\//i.test(place))
      throw new MoveRefused(
        `${place.slice(0, place.indexOf("://") + 3)}... is no place for a store`,
        "Name a data folder, or a PostgreSQL database as postgresql://USER@HOST/DATABASE.",
      );
  if (isAddress(from) && isAddress(to))
    throw new MoveRefused(
      "both stores are PostgreSQL databases",
      "Use pg_dump and pg_restore, and keep secret.key of the data folder.",
    );
  if (!isAddress(from) && !isAddress(to))
    throw new MoveRefused("both stores are data folders", "Use `waybeam backup` and `waybeam restore`.");
}

async function openSource({ from, pid, log }: MoveOptions): Promise<Side> {
  if (!isAddress(from)) return SqliteSide.openSource(from, pid, log);
  const { PostgresSide } = await import("./postgres-side.ts");
  return PostgresSide.openSource(from, log);
}

async function openTarget({ to, pid, log }: MoveOptions): Promise<Side> {
  if (!isAddress(to)) return SqliteSide.openTarget(resolve(to), pid, log);
  const { PostgresSide } = await import("./postgres-side.ts");
  return PostgresSide.openTarget(to, log);
}

async function move(
  source: Side,
  target: Side,
  keys: KeyPlaces,
  { acceptDamage }: MoveOptions,
  work: LongWork,
): Promise<Omit<Moved, "from" | "to" | "folder" | "toFolder">> {
  const copied = await copyAll(source, target, work);
  const differences = await compareAll(source, target, work);
  const isWhole = differences.length === 0 && (acceptDamage || copied.unreadable.length === 0);
  if (isWhole) {
    work.signal.throwIfAborted();
    copyKeys(keys);
  }
  return { ...copied, differences, isWhole };
}

const full = 13;
const damaged = [10, 11, 26];

/** What a failure of an engine means to the operator; others stay what they are. */
function failure(error: unknown, folder: string): unknown {
  if (error instanceof StoreNotEmpty)
    return new MoveRefused(`the target: ${error.message}`, "Choose another one by --to.", error);
  if (error instanceof StoreUnavailable || error instanceof EngineError)
    return new MoveRefused(`the database: ${error.message}`, `Look at the database. ${runAgain}`, error);
  if (!(error instanceof Error)) return error;
  const code = "errcode" in error ? Number(error.errcode) & 0xff : undefined;
  const system = "code" in error ? String(error.code) : "";
  if (code === full || system === "ENOSPC" || system === "EDQUOT")
    return new MoveRefused(`the disk of ${folder} is full`, `Free some space. ${runAgain}`, error);
  if (code !== undefined && damaged.includes(code))
    return new MoveRefused(
      `the database in ${folder} is damaged (${error.message})`,
      'Run `waybeam check` to see what is damaged. docs/storage.md, "Backup, restore, check", says how to go on.',
      error,
    );
  if (code !== undefined && system === "ERR_SQLITE_ERROR")
    return new MoveRefused(
      `can't read or write the database in ${folder}: ${error.message}`,
      `Look at ${folder} and its disk. ${runAgain}`,
      error,
    );
  return error;
}
