import type { RecordPlace } from "../../model/location.ts";
import type { ByteSink } from "./sink.ts";

/** A stored record as it is walked over, from wherever it is stored. */
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
  /** It came with its position. */
  readonly hasOwnPosition: boolean;
  /** It has a position, its own or the one before. */
  readonly isShown: boolean;
  readonly hasAlerts: boolean;
  /** A number of its extras is not finite, so that they are no JSON: earlier versions stored such. */
  readonly hasNotFinite: boolean;
  /** Appends its alert members, where it has alerts. */
  appendAlerts(sink: ByteSink): void;
  /** Appends its extras as they are stored. */
  appendExtras(sink: ByteSink): void;
}
