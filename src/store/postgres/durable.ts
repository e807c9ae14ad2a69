/**
 * Changes something, so that its commit waits for a synchronous standby, and with that for all that was committed
 * before.
 */
export const touch =
  "insert into setting (name, value) values ('check', '0') on conflict (name) do update set value = '0'";

/**
 * Makes commits of a session durable before they are answered. The value is set for the session even if the server's is
 * the same, because the server's may be changed while the session is open.
 */
export const durable =
  "set_config('synchronous_commit', coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on'), false)";
