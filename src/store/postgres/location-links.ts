import { StoreUnavailable } from "../../ports/store.ts";
import type { Link, ReaderCalls, WriterCalls } from "../locations/calls.ts";
import { EngineError } from "../locations/failures.ts";
import type { PostgresWriterCalls } from "./messages.ts";
import type { ServiceLock } from "./service-lock.ts";
import { takenOver } from "./writing-session.ts";

/** Calls whose answers are put into the index and the states: they must see what calls of the writer did before, even if these were not answered. */
const settling: ReadonlySet<string> = new Set([
  "scan",
  "scanBlocks",
  "holdsAny",
  "waiting",
  "statesAsOf",
  "states",
  "rows",
] satisfies (keyof ReaderCalls)[]);

/** What the links need to know of the service. */
export interface WritingParts {
  readonly writer: Link<PostgresWriterCalls>;
  readonly lock: Pick<ServiceLock, "held">;
  /** Told when another service has written to the database: nothing that is in memory holds any more. */
  onTakenOver(error: unknown): void;
}

/**
 * Calls to the writer. They are made only while the service has its lock. After one that was not answered it may be under way at the server still: `settled` resolves when it can't be any
 * more.
 */
export class WriterGate implements Link<WriterCalls> {
  readonly #parts: WritingParts;
  #doubtful = false;
  #settling: Promise<void> | undefined;

  constructor(parts: WritingParts) {
    this.#parts = parts;
  }

  async call<K extends keyof WriterCalls & string>(
    name: K,
    request: WriterCalls[K]["request"],
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<WriterCalls[K]["answer"]> {
    if (!this.#parts.lock.held) throw new StoreUnavailable("the lock of the database is being taken again");
    try {
      return await this.#parts.writer.call(name, request, transfer);
    } catch (error) {
      if (error instanceof StoreUnavailable) this.#doubt(error);
      throw error;
    }
  }

  #doubt(error: StoreUnavailable): void {
    this.#doubtful = true;
    if (error.cause instanceof EngineError && error.cause.code === takenOver) this.#parts.onTakenOver(error);
  }

  /** Resolves when no call that failed can change anything any more. Rejects with `StoreUnavailable` while that is not known. */
  async settled(): Promise<void> {
    // Who comes while the first one waits, waits too; and a call that fails meanwhile is a new doubt.
    while (this.#doubtful || this.#settling !== undefined) {
      this.#settling ??= this.#settle().finally(() => {
        this.#settling = undefined;
      });
      await this.#settling;
    }
  }

  async #settle(): Promise<void> {
    if (!this.#parts.lock.held) throw new StoreUnavailable("the lock of the database is being taken again");
    // A call that fails from now on is a new doubt.
    this.#doubtful = false;
    try {
      await this.#parts.writer.call("stand", null);
    } catch (error) {
      this.#doubtful = true;
      if (error instanceof StoreUnavailable) this.#doubt(error);
      throw error;
    }
  }
}

/** Calls to a reader, whose answers are those of a settled database. */
export class SettledReader implements Link<ReaderCalls> {
  readonly #reader: Link<ReaderCalls>;
  readonly #gate: WriterGate;

  constructor(reader: Link<ReaderCalls>, gate: WriterGate) {
    this.#reader = reader;
    this.#gate = gate;
  }

  async call<K extends keyof ReaderCalls & string>(
    name: K,
    request: ReaderCalls[K]["request"],
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<ReaderCalls[K]["answer"]> {
    if (settling.has(name)) await this.#gate.settled();
    return this.#reader.call(name, request, transfer);
  }
}
