import { quotaNames } from "../model/quotas.ts";
import { QuotaReached, type StoreTrouble, StoreUnavailable } from "../ports/store.ts";

/** Why a call to an engine failed, as it crosses between threads. */
export interface CallFailure {
  readonly message: string;
  /** What stands behind the failure. Undefined when the engine can be used, or when the failure is not the engine's. */
  readonly trouble: StoreTrouble | undefined;
  /** The engine's own code for the failure. Undefined when the failure is not the engine's. */
  readonly code: number | string | undefined;
}

/** A failure of an engine. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly trouble: StoreTrouble | undefined;
  /** See `CallFailure`. */
  readonly code: number | string | undefined;

  constructor({ message, trouble, code }: CallFailure) {
    super(message);
    this.trouble = trouble;
    this.code = code;
  }
}

/** The error that a caller of the store sees. */
export function storeError(failure: CallFailure): Error {
  const { message, trouble } = failure;
  const cause = new EngineError(failure);
  if (trouble !== undefined) return new StoreUnavailable(`store unavailable: ${message}`, { cause }, trouble);
  // The text that a trigger of a quota raises.
  const quota = quotaNames.find((name) => message === `quota ${name}`);
  return quota === undefined ? cause : new QuotaReached(quota);
}

/** A failure because stored bytes are damaged. */
export function damaged(message: string): CallFailure {
  return { message, trouble: "damaged", code: undefined };
}

/** Whether the store as a whole can't be used at present: whatever else is asked of it fails, too. */
export function isDown(error: unknown): boolean {
  return error instanceof StoreUnavailable && error.trouble === "down";
}
