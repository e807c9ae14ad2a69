import type { KnockedDevice } from "./quarantine.ts";

/** One thing that happened to a traced device's connection, in the order of `seq`. */
export interface TraceEntry {
  readonly seq: number;
  /** Epoch ms. */
  readonly time: number;
  readonly connection: string;
  readonly protocol: string;
  readonly address: string;
  /** The message as it came, hex (cut at the trace's limit, then `cut` is true). */
  readonly message: string;
  readonly cut: boolean;
  /** The effects in the form that `waybeam decode` prints. */
  readonly effects: readonly object[];
  /** What became of the reports. */
  readonly outcome: string;
}

/** A bounded ring of what devices sent and what became of it; off for every device until asked. */
export interface Trace {
  /** Whether anything at all is traced: the hot path asks only this. */
  readonly active: boolean;
  wants(device: string): boolean;
  add(device: string, entry: Omit<TraceEntry, "seq">): void;
  /**
   * Traces the device for the next minutes, and gives what the ring holds after `seq`. When too many are traced, one of
   * the account that has most makes room.
   */
  follow(device: KnockedDevice, after: number): readonly TraceEntry[];
}
