import type { ExtrasFacts } from "../../fold/step.ts";
import type { ByteSink } from "./sink.ts";

/** What of a record's extras is known without reading them. */
export interface RecordFacts extends ExtrasFacts {
  /** They tell how accurate the position is. */
  readonly hasAccuracy: boolean;
  /** They tell the tracker's own alarms. */
  readonly hasAlarms: boolean;
  /** A number among them is not finite, so that they are no JSON. */
  readonly hasNotFinite: boolean;
}

/** All that a record says. */
export interface WholeRecord {
  readonly time: number;
  readonly receivedAt: number;
  readonly valid: boolean;
  readonly unlocated: boolean;
  readonly latitude: number;
  readonly longitude: number;
  readonly speed: number | undefined;
  readonly course: number | undefined;
  readonly facts: RecordFacts;
  /** Made when asked for. */
  readonly extras: string;
  appendExtras(sink: ByteSink): void;
}

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
  /** The present record. The next one may be the same object. */
  readonly record: WholeRecord;
  /** Goes to the next record, from before the first. Returns false when there is none. */
  next(): boolean;
}
