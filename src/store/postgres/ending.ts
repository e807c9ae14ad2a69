import type pg from "pg";

/** Ends a connection, or breaks it if the server has not closed it in time: nobody waits for a server that hangs. */
export async function endOf(client: pg.Client, ms: number): Promise<void> {
  const late = setTimeout(() => client.connection.stream.destroy(), ms);
  try {
    await client.end();
  } finally {
    clearTimeout(late);
  }
}
