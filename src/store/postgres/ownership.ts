import type pg from "pg";

/** The setting that names the last service that wrote, and the timeline of the server at that time. */
export const ownerSetting = "service";
/** Code of a failure because another service has written to the database. */
export const takenOver = "WB002";
/** The message of that failure. */
export const takenOverText = "another service has written to the database, or a standby has taken the server's place";

/** The server's timeline, with which the name of the current WAL file begins. A new one begins when a standby becomes the primary, and that standby may lack commits. */
const timeline = "select left(pg_walfile_name(pg_current_wal_lsn()), 8)";
/** SQLSTATEs of a server that does not tell its timeline: the function is missing, or we may not call it. */
const untold: ReadonlySet<unknown> = new Set(["0A000", "42501", "42883"]);
/** When the server was started: no standby that takes its place has the same. */
const started = "select extract(epoch from pg_postmaster_start_time())::text";

/** The value of the setting `service`: who wrote last, and on which server. */
export async function ownerTextBy(client: pg.ClientBase, service: string): Promise<string> {
  return `${service} ${await serverText(client)}`;
}

/** If the server does not tell its timeline, it counts as another one after each restart. */
async function serverText(client: pg.ClientBase): Promise<string> {
  const ask = async (text: string) => (await client.query<[string]>({ text, rowMode: "array" })).rows[0]?.[0] ?? "";
  try {
    return await ask(timeline);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && untold.has(error.code))) throw error;
    return ask(started);
  }
}

/** Whether a service is the one that wrote last, and on this server. */
export async function isOwner(client: pg.ClientBase, service: string): Promise<boolean> {
  const ours = await ownerTextBy(client, service);
  const { rowCount } = await client.query("select from setting where name = $1 and value = $2", [ownerSetting, ours]);
  return rowCount === 1;
}
