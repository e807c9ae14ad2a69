import type { Processes } from "../ports/processes.ts";
import type { Store } from "../ports/store.ts";

/** An open store of any engine, with what its operator sees of it. */
export interface OpenedStore extends Store {
  /** This process among those that share the database. */
  readonly processes: Processes;
  /** Does what one process at a time does at its start. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Refused reports that were deleted before their age since the opening, because their device had too many bytes of
   * them.
   */
  refusedDropped(): number;
}

/** Bytes of refused reports that each device may have, unless configured. */
export const usualRefusedBytes = 16 * 1024 * 1024;
/** Records of commands that each device may have, unless configured. */
export const usualCommands = 1000;
/** Notices that each device may have, unless configured. */
export const usualNotices = 10_000;
