/** A move can't be done, or not go on. `advice` says what to do next. */
export class MoveRefused extends Error {
  override readonly name = "MoveRefused";
  readonly advice: string;

  constructor(message: string, advice: string, cause?: unknown) {
    super(message, { cause });
    this.advice = advice;
  }
}

/** What to do where a move was cut short. */
export const runAgain = "Run the same command again: it begins anew.";

/** Of a target with data, which an earlier run may have left. */
export const endedMove =
  "If an earlier run of this move was cut short, and no service was started on this store since, it had ended: start the service there.";
