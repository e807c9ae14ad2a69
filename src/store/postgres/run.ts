import type pg from "pg";
import { storeError } from "../failures.ts";
import { locks } from "./advisory-locks.ts";

/** A run of the service: a name that no other has, and the server on which it began. */
export interface Run {
  readonly name: string;
  readonly server: string;
}

/** Code of a failure because this run can't go on: it must be started anew. */
export const takenOver = "WB002";

/**
 * The server's timeline, with which the name of the current WAL file begins. A new one begins when a standby becomes
 * the primary, and that standby may lack commits.
 */
const timeline = "select left(pg_walfile_name(pg_current_wal_lsn()), 8)";
/** SQLSTATEs of a server that does not tell its timeline: the function is missing, or we may not call it. */
const untold: ReadonlySet<unknown> = new Set(["0A000", "42501", "42883"]);
/** When the server was started: no standby that takes its place has the same. */
const started = "select extract(epoch from pg_postmaster_start_time())::text";

/**
 * What tells a server from a standby that takes its place. If it does not tell its timeline, it counts as another one
 * after each restart.
 */
export async function serverText(client: pg.ClientBase): Promise<string> {
  const ask = async (text: string) => (await client.query<[string]>({ text, rowMode: "array" })).rows[0]?.[0] ?? "";
  try {
    return await ask(timeline);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && untold.has(error.code))) throw error;
    return ask(started);
  }
}

/** Whether a connection leads to the server on which a run began. */
export async function isSameServer(client: pg.ClientBase, { server }: Run): Promise<boolean> {
  return (await serverText(client)) === server;
}

/** The failure where it does not. */
export function otherServer(): Error {
  const message = "a standby has taken the server's place, and may lack what was stored";
  return storeError({ message, trouble: "down", code: takenOver });
}

const share = `select pg_try_advisory_lock_shared(${locks.service}) as shared`;

/**
 * Lets a connection read and write for a run. As long as the connection is there, no program can have the database for
 * itself.
 */
export async function join(client: pg.ClientBase, run: Run): Promise<void> {
  const { rows } = await client.query<{ shared: boolean }>(share);
  if (rows[0]?.shared !== true)
    throw storeError({ message: "a program has the database for itself", trouble: "down", code: "55P03" });
  if (!(await isSameServer(client, run))) throw otherServer();
}
