/**
 * Makes commits of a session durable when they are answered. The setting becomes the session's own, also where it is as the server has it: the server's may be changed while the session
 * is open.
 */
export const durable =
  "set_config('synchronous_commit', coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on'), false)";
