import { DatabaseError } from "pg";
import { type StoreTrouble, StoreUnavailable } from "../../ports/store.ts";
import { type CallFailure, EngineError, storeError as errorOf } from "../locations/failures.ts";

/** Another transaction came in between, and the server took this one back as a whole: deadlocks and serialization failures. */
const metAnother: ReadonlySet<string> = new Set(["40001", "40P01"]);

/** What a transaction found free was taken when it wrote. It finds it taken when it looks again. */
const uniqueViolation = "23505";

/** States, or classes of them (the first two characters), that say that the database can't be used at present, however right the statement was. */
const troubles: ReadonlyMap<string, StoreTrouble> = new Map([
  ["08", "down"], // connection exception
  ["25006", "down"], // read-only: a standby, or a server that was set so since its disk is full
  ["26", "exhausted"], // a statement that another call was to prepare, which failed
  ["28", "down"], // the role may not connect any more
  ["3D", "down"], // the database is gone
  ["40", "exhausted"], // met other transactions each time that it was tried
  ["42501", "down"], // the role has lost a right
  ["53", "down"], // insufficient resources: disk full, too many connections
  ["53200", "exhausted"], // out of memory
  ["55P03", "exhausted"], // another transaction holds what it needs for too long
  ["57014", "exhausted"], // took longer than a statement may
  ["57", "down"], // operator intervention: shutdown, crash, starting up
  ["58", "damaged"], // system error: a file can't be read or written
  ["XX001", "damaged"], // a page can't be right
  ["XX002", "damaged"], // an index can't be right
]);

/** What stands behind a state. Undefined when the database can be used. */
export function troubleOf(code: string): StoreTrouble | undefined {
  return troubles.get(code) ?? troubles.get(code.slice(0, 2));
}

/** The state that the server told with a failure; undefined: it told nothing. */
function stateOf(error: unknown): string | undefined {
  const { cause } = error instanceof StoreUnavailable ? error : { cause: error };
  return cause instanceof EngineError && typeof cause.code === "string" ? cause.code : undefined;
}

/** Whether others came in between, and the server took back what failed, so that it may do now. */
export function hasMetAnother(error: unknown): boolean {
  return metAnother.has(stateOf(error) ?? "");
}

/** The same for a transaction, which looks again at what it has found free. */
export function isWorthAnotherTry(error: unknown): boolean {
  return hasMetAnother(error) || stateOf(error) === uniqueViolation;
}

/** How far a call had come when it failed. `asked`: nothing of it is done · `sent`: where no answer came, it may be done. */
export type Stage = "asked" | "sent";

/** The error that a caller of the store sees. */
export function storeError(error: unknown, stage: Stage): unknown {
  if (error instanceof StoreUnavailable) return error;
  // A value that can't be sent or read is a fault of ours, and not the connection's.
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) return error;
  const failure = failureOf(error);
  if (stage === "asked" || !isWithoutAnswer(error)) return errorOf(failure);
  const message = `store unavailable: ${failure.message}; it is not known whether what was asked is done`;
  return new StoreUnavailable(message, { cause: new EngineError(failure), mayBeDone: true });
}

/** What the server or the connection told. What the server says of the values of rows is left out. */
function failureOf(error: Error): CallFailure {
  if (!(error instanceof DatabaseError)) return { message: messageOf(error), trouble: "down", code: undefined };
  const { message, code = "" } = error;
  return { message, trouble: troubleOf(code), code };
}

/** A server that goes down may say so in place of the answer to what is done already. */
function isWithoutAnswer(error: Error): boolean {
  return !(error instanceof DatabaseError) || /^(57P|08)/.test(error.code ?? "");
}

/** A host with several addresses fails with all their errors, and says nothing itself. */
export function messageOf(error: Error): string {
  return error instanceof AggregateError ? error.errors.map(String).join("; ") : error.message;
}
