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

/** The server ends a session whose other end is gone in half a minute, so that its locks do not outlive its service for long. */
export const endsWhenCutOff = `set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false),
  set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '25000', false)`;
