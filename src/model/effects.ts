import type { Alarm } from "./alarms.ts";
import type { Readings } from "./readings.ts";

/** Values that a manual names and the catalogue of readings does not have. */
export type Attributes = { readonly [name: string]: string | number | boolean };

/** The tracker said who it is: the identifiers it may be registered under, the most specific first. */
export interface Identify {
  readonly type: "identify";
  readonly ids: readonly string[];
  /**
   * The password or key that the message carries, as it came. Compared with the device's where one is set; never
   * logged, traced or stored.
   */
  readonly secret?: string;
}

/**
 * One position. Times are epoch milliseconds of the tracker's own clock (event time); latitude and longitude are WGS-84
 * degrees; altitude m, speed km/h, course degrees clockwise from north. What was not reported is absent.
 */
export interface Fix {
  readonly type: "fix";
  readonly time: number;
  /** False where the tracker itself says that it has no GPS fix. */
  readonly valid: boolean;
  readonly latitude: number;
  readonly longitude: number;
  readonly altitude?: number;
  readonly speed?: number;
  readonly course?: number;
  readonly alarms: readonly Alarm[];
  readonly readings: Readings;
  readonly attributes: Attributes;
}

/** Readings or alarms without a position of their own. Without `time`, the time of arrival counts. */
export interface ReadingsReport {
  readonly type: "readings";
  readonly time?: number;
  readonly alarms: readonly Alarm[];
  readonly readings: Readings;
  readonly attributes: Attributes;
}

/**
 * Bytes for the tracker: at once; once its device is known (registered, not expired); or once everything that this
 * frame reported is on disk. "identified" and "stored" replies are never sent to a device that is refused.
 */
export interface Reply {
  readonly type: "reply";
  readonly bytes: Uint8Array;
  readonly when: "now" | "identified" | "stored";
}

/** The tracker's answer to a command. `ok` where the protocol tells success from failure. */
export interface CommandResult {
  readonly type: "commandResult";
  readonly text: string;
  /** What the answer calls its command, in the words of the protocol's `expects`; absent: it says nothing of that. */
  readonly to?: string;
  readonly ok?: boolean;
}

/** A well-formed message that holds nothing to store. */
export interface Ignored {
  readonly type: "ignored";
  readonly reason: string;
}

/** Why a message could not be used. */
export type FailureCause = "malformed" | "badChecksum" | "unsupported" | "notIdentified";

/** A message that could not be used; a value, never an exception. */
export interface Failure {
  readonly type: "failure";
  readonly cause: FailureCause;
  /** Who a message with a wrong checksum says that it is from: the identifiers may be damaged too. */
  readonly ids?: readonly string[];
}

/** What a tracker reports that is to be stored. */
export type Report = Fix | ReadingsReport;

/** Everything that a protocol can ask for. It does nothing itself; the gateway interprets these. */
export type Effect = Identify | Report | Reply | CommandResult | Ignored | Failure;
