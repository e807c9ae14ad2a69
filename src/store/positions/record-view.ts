import type { ByteSink } from "./sink.ts";

/** The present record of a walk over packed records, be they of the log or of a block. */
export interface RecordView {
  readonly time: number;
  /** Made when asked for. */
  readonly key: number;
  /** Appends the record as the log has it. */
  write(sink: ByteSink): void;
}

/** Records in the order of event time. Of one moment, in the order in which they came. */
export interface RecordWalk extends RecordView {
  /** Event time of the next record; NaN where there is none. */
  readonly nextTime: number;
  /** Goes to the next record, from before the first. Returns false when there is none. */
  next(): boolean;
}
