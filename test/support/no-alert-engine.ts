import type { AlertEngine } from "../../src/ports/alert-engine.ts";

/** An engine without rules. */
export const noAlertEngine: AlertEngine = {
  prepare: () => undefined,
  watches: () => false,
  watch: () => undefined,
  review: () => undefined,
  followed: () => undefined,
  heard: () => undefined,
  sharesMoved: () => undefined,
};
