import type { PositionStore } from "../../../src/ports/positions.ts";

/** An engine, with what tests do to it. */
export interface PositionsUnderTest extends PositionStore {
  /** Does now all that it would do in the background. */
  settle(): Promise<void>;
  /** Ends its work as a crash of the process would. Only `close` follows. */
  kill(): Promise<void>;
}

/** A place for positions. Its stores are opened one after the other. */
export interface PositionHarness {
  open(): Promise<PositionsUnderTest>;
  dispose(): Promise<void>;
}
