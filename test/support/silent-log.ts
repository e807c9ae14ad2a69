import type { Log } from "../../src/ports/log.ts";

/** A log that nobody reads. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLog,
};
