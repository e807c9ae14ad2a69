/**
 * Makes commits of a session durable before they are answered. The value is set for the session even if the server's is the same, because the server's may be changed while the
 * session is open.
 */
export const durable =
  "set_config('synchronous_commit', coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on'), false)";
