import type { RecordPlace } from "../../model/location.ts";
import type { ByteSink } from "./sink.ts";

/** The present record of a walk over a chunk, whether the chunk is a block or of the tail. */
export interface RecordView extends RecordPlace {
  readonly hash: number;
  readonly receivedAt: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly speed: number | undefined;
  readonly course: number | undefined;
  readonly positionTime: number | undefined;
  readonly inputsKnown: number;
  readonly movedAt: number;
  /** Shifts are added to these. */
  odometerMm: number;
  sensor1: number;
  sensor2: number;
  sensor3: number;
  sensor4: number;
  /** Whether the record came with its position. */
  readonly hasOwnPosition: boolean;
  /** Whether the record has a position: its own, or the one before. */
  readonly isShown: boolean;
  readonly hasAlerts: boolean;
  /** Whether a number of the extras is not finite, so that the extras are no JSON. Earlier versions stored such numbers. */
  readonly hasNotFinite: boolean;
  /** Appends the alert members of a record that has alerts. */
  appendAlerts(sink: ByteSink): void;
  /** Appends the extras as they are stored. */
  appendExtras(sink: ByteSink): void;
}
