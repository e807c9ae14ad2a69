import type pg from "pg";

/** Ends a connection. Where the server does not let go of it in time, it is broken: nobody waits for a server that hangs. */
export async function endOf(client: pg.Client, ms: number): Promise<void> {
  const late = setTimeout(() => client.connection.stream.destroy(), ms);
  try {
    await client.end();
  } finally {
    clearTimeout(late);
  }
}
