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

/**
 * Parameters by which the server ends a session whose other end is gone in half a minute, so that its locks do not
 * outlive its service for long.
 */
export const cutOffTimes = {
  tcp_keepalives_idle: "10",
  tcp_keepalives_interval: "5",
  tcp_keepalives_count: "3",
  tcp_user_timeout: "25000",
};

/** The same for a `select`. */
export const endsWhenCutOff = Object.entries(cutOffTimes)
  .map(([name, value]) => `set_config('${name}', '${value}', false)`)
  .join(", ");
