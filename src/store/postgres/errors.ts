import { DatabaseError } from "pg";
import { type StoreTrouble, StoreUnavailable } from "../../ports/store.ts";
import { type CallFailure, EngineError, storeError as errorOf } from "../failures.ts";

/** Deadlocks and serialization failures: because of another transaction, the server rolled this one back. */
const metAnother: ReadonlySet<string> = new Set(["40001", "40P01"]);

/** Another transaction inserted the key first. The next attempt finds it taken before it writes. */
const uniqueViolation = "23505";

/**
 * SQLSTATEs, or their classes (the first two characters), that tell of the database's condition and not of a wrong
 * statement.
 */
const troubles: ReadonlyMap<string, StoreTrouble> = new Map([
  ["08", "down"], // connection exception
  ["25006", "down"], // read-only: a standby, or a server that was made read-only because its disk is full
  ["26", "exhausted"], // another call failed to prepare the statement
  ["28", "down"], // the role may not connect any more
  ["3D", "down"], // the database is gone
  ["40", "exhausted"], // conflicted with other transactions at each attempt
  ["42501", "down"], // the role has lost a right
  ["55000", "down"], // in recovery: a standby, which a service asks for its timeline before anything else
  ["53", "down"], // insufficient resources: disk full, too many connections
  ["53200", "exhausted"], // out of memory
  ["55P03", "exhausted"], // another transaction holds what it needs for too long
  ["57014", "exhausted"], // took longer than a statement may
  ["57", "down"], // operator intervention: shutdown, crash, starting up
  ["58", "damaged"], // system error: a file can't be read or written
  ["XX001", "damaged"], // a damaged page
  ["XX002", "damaged"], // a damaged index
]);

/** What an SQLSTATE says of the database. Undefined if the database can be used. */
export function troubleOf(code: string): StoreTrouble | undefined {
  return troubles.get(code) ?? troubles.get(code.slice(0, 2));
}

/** A failure's SQLSTATE. Undefined if the server sent none. */
function stateOf(error: unknown): string | undefined {
  const { cause } = error instanceof StoreUnavailable ? error : { cause: error };
  return cause instanceof EngineError && typeof cause.code === "string" ? cause.code : undefined;
}

/** Whether the server's disk is full. */
export function isDiskFull(error: unknown): boolean {
  return stateOf(error) === "53100";
}

/** Whether the server rolled this back because of another transaction, so that another attempt may succeed. */
export function hasMetAnother(error: unknown): boolean {
  return metAnother.has(stateOf(error) ?? "");
}

/** The same for a whole transaction, which also finds a key taken when it reads again. */
export function isWorthAnotherTry(error: unknown): boolean {
  return hasMetAnother(error) || stateOf(error) === uniqueViolation;
}

/** How far a call had come when it failed. `asked`: it changed nothing · `sent`: if no answer came, it may be done. */
export type Stage = "asked" | "sent";

/**
 * The server's routine that warns if the wait of a commit for a synchronous standby is cancelled. The commit is then
 * answered like any other. The text of the warning is in the server's language.
 */
export const standbyWait = "SyncRepWaitForLSN";

/**
 * The failure of a commit that the server answered with a rollback, as it does after a statement of the transaction
 * failed.
 */
export function rolledBack(): EngineError {
  const message =
    "the server rolled the transaction back in place of committing it, because one of its statements had failed";
  return new EngineError({ message, trouble: undefined, code: "25P02" });
}

/** The failure of a commit that the standby may not have. */
export function withoutStandby(): StoreUnavailable {
  const message = "the wait for the standby was cut off";
  const cause = new EngineError({ message, trouble: "down", code: undefined });
  return new StoreUnavailable(`store unavailable: ${message}; the standby may lack what is done`, {
    cause,
    mayBeDone: true,
  });
}

/** The error that a caller of the store sees. */
export function storeError(error: unknown, stage: Stage): unknown {
  if (error instanceof StoreUnavailable) return error;
  // A value that can't be sent or read is our bug, not the connection's fault.
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) return error;
  const failure = failureOf(error);
  if (stage === "asked" || !isWithoutAnswer(error)) return errorOf(failure);
  const message = `store unavailable: ${failure.message}; it is not known whether what was asked is done`;
  return new StoreUnavailable(message, { cause: new EngineError(failure), mayBeDone: true });
}

/** The message and SQLSTATE of a failure. The server's details, which quote values of rows, are left out. */
function failureOf(error: Error): CallFailure {
  if (!(error instanceof DatabaseError)) return { message: messageOf(error), trouble: "down", code: undefined };
  const { message, code = "" } = error;
  return { message, trouble: troubleOf(code), code };
}

/**
 * Whether the call may be done all the same. A server that shuts down may say so in place of the answer to a commit.
 */
function isWithoutAnswer(error: Error): boolean {
  return !(error instanceof DatabaseError) || /^(57P|08)/.test(error.code ?? "");
}

/** What `pg` says if no answer comes in time. */
const noAnswer = "Query read timeout";

/** A host with several addresses fails with one error for each, and an empty message of its own. */
export function messageOf(error: Error): string {
  if (error.message === noAnswer) return "the server did not answer in time";
  return error instanceof AggregateError ? error.errors.map(String).join("; ") : error.message;
}
