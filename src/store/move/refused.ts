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

/** What to do where a move was killed after it had ended. */
export const endedMove = "If this is the second run of a move, the first one had ended: start the service there.";
