import type { Call, PackerCalls, ReaderCalls, WriterCalls } from "../locations/calls.ts";

/** What every worker of this engine does. */
interface WorkerCalls {
  readonly close: Call<null, null>;
}

/** What the worker that writes does. */
export interface PostgresWriterCalls extends WriterCalls, WorkerCalls {
  /** Makes this service the one that writes positions, at its start. */
  readonly take: Call<null, null>;
  /** Answers when no call from before can change anything any more: it is done, or never will be. */
  readonly stand: Call<null, null>;
}

/** What a worker that reads does. */
export type PostgresReaderCalls = ReaderCalls & WorkerCalls;

/** What the worker that packs does. */
export type PostgresPackerCalls = PackerCalls & WorkerCalls;
