import { resolve } from "node:path";
import type { Log } from "../../ports/log.ts";
import { StoreUnavailable } from "../../ports/store.ts";
import { type Finding, type Inspection, inspect } from "../backup/inspection.ts";
import type { LongWork } from "../backup/refused.ts";
import { EngineError } from "../locations/failures.ts";
import { dataVersion } from "../migrations/migrations.ts";
import { type Compared, compareAll } from "./compare.ts";
import { copyAll } from "./copy.ts";
import { checkKeys, copyKeys, type KeyPlaces } from "./keys.ts";
import { MoveRefused, runAgain } from "./refused.ts";
import type { SourceSide, TargetSide } from "./sides.ts";
import { tablesOf } from "./sqlite-rows.ts";
import { SqliteSource } from "./sqlite-source.ts";
import { SqliteTarget } from "./sqlite-target.ts";

/** What to move, and who does it. */
export interface MoveOptions {
  /** A data folder, or the address of a PostgreSQL database; `to` is one of the other kind. */
  readonly from: string;
  readonly to: string;
  /** The data folder of the configuration: it has the keys of a database. */
  readonly data: string;
  /** The file of the secret key, if the configuration names one. */
  readonly secretFile: string;
  /** Deletes what a move into the target that has not ended copied. */
  readonly anew: boolean;
  /** Ends the move also where the source is damaged. */
  readonly acceptDamage: boolean;
  readonly log: Log;
  /** Number of this process. */
  readonly pid: number;
}

/** What was moved. */
export interface Moved {
  readonly from: string;
  readonly to: string;
  /** The data folder that has the keys of the target: the target itself, if it is a folder. */
  readonly folder: string;
  readonly toFolder: boolean;
  readonly devices: number;
  readonly positions: number;
  readonly rows: number;
  readonly bytes: number;
  /** What is damaged in the source, the first of it. */
  readonly findings: readonly Finding[];
  /** Findings beside these. */
  readonly more: number;
  /** Where the target is not what the source is. */
  readonly differences: readonly string[];
  /** How it began: with nothing, where an earlier one had stopped, or anew, since the source was used meanwhile or somebody asked for that. */
  readonly begun: "first" | "on" | "anew";
  /** A service may use the target. */
  readonly isWhole: boolean;
}

/** Whether a place is a database, and no folder. */
export function isAddress(place: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(place);
}

/**
 * Copies a store into one of the other engine, reads both, and compares them. It may be cut short at any moment; the same call then goes on. The source is not changed.
 * Rejects with `MoveRefused`, and with what opening a store of either engine rejects with.
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
      try {
        const moved = await move(source, target, keys, options, work);
        return { ...moved, from: source.shown, to: target.shown, folder, toFolder: !isAddress(to) };
      } finally {
        await target.close();
      }
    } finally {
      await source.close();
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

async function openSource({ from, pid, log }: MoveOptions): Promise<SourceSide> {
  if (!isAddress(from)) return SqliteSource.open(from, pid);
  const { PostgresSource } = await import("./postgres-source.ts");
  return PostgresSource.open(from, log);
}

async function openTarget({ to, pid, log }: MoveOptions): Promise<TargetSide> {
  if (!isAddress(to)) return SqliteTarget.open(resolve(to), pid);
  const { PostgresTarget } = await import("./postgres-target.ts");
  return PostgresTarget.open(to, log);
}

async function move(
  source: SourceSide,
  target: TargetSide,
  keys: KeyPlaces,
  { anew, acceptDamage }: MoveOptions,
  work: LongWork,
): Promise<Omit<Moved, "from" | "to" | "folder" | "toFolder">> {
  const begun = await begin(source, target, anew);
  const database = source.database ?? target.database;
  if (database === undefined) throw new TypeError("no end of the move is a data folder");
  const tables = tablesOf(database);
  await copyAll(tables, source, target, work);
  work.progress(() => "preparing to compare ...");
  await target.settle(await source.sequences());
  const compared = await compareAll(tables, source, target, work);
  // The embedded store's own check reads every position and page, whichever end has it. The rows of both are the same.
  const inspected = await inspect(database, work);
  const findings = [...source.told, ...compared.told].map((problem) => ({ device: undefined, problem }));
  const told = { ...inspected, findings: [...findings, ...inspected.findings] };
  const isWhole = compared.differences.length === 0 && (acceptDamage || told.findings.length === 0);
  if (isWhole) {
    work.signal.throwIfAborted();
    copyKeys(keys);
    await target.finish();
  }
  return { ...outcome(told, compared), begun, isWhole };
}

function outcome({ devices, positions, findings, more }: Inspection, { rows, bytes, differences }: Compared) {
  return { devices, positions, rows, bytes, findings, more, differences };
}

/** Begins a move, or goes on with it. */
async function begin(source: SourceSide, target: TargetSide, anew: boolean): Promise<Moved["begun"]> {
  const origin = await source.origin();
  const { journal } = target;
  let begun: Moved["begun"] = "first";
  if (journal !== undefined) {
    const known = journal.origin;
    if (!anew && known.service !== origin.service)
      throw new MoveRefused(
        `${target.shown} holds a part of another service: a move into it has not ended`,
        "Name that one's store by --from, choose another target, or add --anew: then what was copied is deleted.",
      );
    if (!anew && journal.version !== dataVersion)
      throw new MoveRefused(
        `${target.shown} holds a part of the data that another version of this program copied`,
        "Go on with that version, or add --anew: then what was copied is deleted, and the move begins again.",
      );
    begun = anew || known.state !== origin.state ? "anew" : "on";
    if (begun === "anew") await target.clear();
  }
  await target.begin(origin);
  return begun;
}

const full = 13;
const damaged = [10, 11, 26];

/** What a failure of an engine means to the operator; others stay what they are. */
function failure(error: unknown, folder: string): unknown {
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
