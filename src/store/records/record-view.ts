import type { RecordPlace } from "../../model/location.ts";

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
  /** Where its texts are. */
  readonly bytes: Buffer;
  /** Where the alert members begin, which end where the extras begin; no alerts: -1. */
  readonly alerts: number;
  /** Where the extras begin, and where they end. */
  readonly extras: number;
  readonly end: number;
}
