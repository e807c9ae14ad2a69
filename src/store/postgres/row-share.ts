import type pg from "pg";
import { storeError } from "../failures.ts";
import { locks } from "./advisory-locks.ts";
import { isOwner, takenOver, takenOverText } from "./ownership.ts";

const share = `select pg_try_advisory_lock_shared(${locks.rows}) as shared`;

/**
 * Lets a connection change rows for a service: only while this is the one that writes. As long as the connection is there, no other service becomes that: it would need the lock for itself. The
 * lock is taken before the setting is read, which may change until then.
 */
export async function shareRows(client: pg.ClientBase, service: string): Promise<void> {
  const { rows } = await client.query<{ shared: boolean }>(share);
  if (rows[0]?.shared !== true)
    throw storeError({ message: "another service is starting", trouble: "down", code: "55P03" });
  if (!(await isOwner(client, service))) throw storeError({ message: takenOverText, trouble: "down", code: takenOver });
}
