import { type CallFailure, EngineError } from "../locations/failures.ts";
import { isOutOfMemory, recordsDamage } from "../records/damage.ts";

/** What a thread tells the main thread about a failure. */
export function callFailure(error: unknown): CallFailure {
  if (!(error instanceof Error)) return { message: String(error), trouble: undefined, code: undefined };
  const { message } = error;
  if (error instanceof EngineError) return { message, trouble: error.trouble, code: error.code };
  if (isOutOfMemory(error)) return { message, trouble: "exhausted", code: undefined };
  // A bug of ours: the stack tells where.
  return { message: error.stack ?? message, trouble: undefined, code: undefined };
}

/** Whether reading failed because something is damaged, or because a part of the disk can't be read. */
export function isDamage(error: unknown): boolean {
  return callFailure(error).trouble === "damaged" || recordsDamage(error) !== undefined;
}

/** What is wrong with a chunk's bytes, or with the page or file that the server keeps them in. Undefined when the error has another cause. */
export function damageOf(error: unknown): string | undefined {
  if (error instanceof EngineError && error.trouble === "damaged") return error.message;
  return recordsDamage(error);
}
