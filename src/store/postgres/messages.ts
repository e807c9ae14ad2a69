import type { Call, PackerCalls, ReaderCalls, WriterCalls } from "../locations/calls.ts";

/** What every worker of this engine does. */
interface WorkerCalls {
  readonly close: Call<null, null>;
}

/** What the worker that writes does. */
export interface PostgresWriterCalls extends WriterCalls, WorkerCalls {
  /** At the start: makes this service the one that writes positions. */
  readonly take: Call<null, null>;
  /** Answers when every earlier call is done or never will be, so that none can change anything any more. */
  readonly stand: Call<null, null>;
}

/** What a worker that reads does. */
export type PostgresReaderCalls = ReaderCalls & WorkerCalls;

/** What the worker that packs does. */
export type PostgresPackerCalls = PackerCalls & WorkerCalls;
