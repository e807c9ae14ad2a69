import type { Report } from "../model/effects.ts";
import type { WatchedDevice } from "./alert-engine.ts";

/** A device that may report now. Held by a connection; `live` turns false when the device is deleted, changed or expires, or was not asked for in a while. */
export interface Admitted extends WatchedDevice {
  readonly status: "admitted";
  /** Model of the tracker (the device's tag `model`), where a protocol's variants can't be told from the bytes. */
  readonly model?: string | undefined;
  /** False: it is to be admitted again before anything else of it is taken. */
  readonly live: boolean;
}

/** Why a device may not report. `unknown` devices are quarantined. */
export interface NotAdmitted {
  readonly status: "unknown" | "expired";
}

/** Whether a device may report now. */
export type Admission = Admitted | NotAdmitted;

/**
 * What became of the reports of one message. `stored`: on disk, as well as every exact repeat; the tracker may be told.
 * `refused`: the device expired or was deleted meanwhile; nothing is stored and nothing is told. `failed`: a defect of ours kept them from being stored; nothing is told.
 */
export type Outcome = "stored" | "refused" | "failed";

/** The way from the gateway into ingest. */
export interface Intake {
  /** Which device these identifiers belong to. Answers at once where it is known; rejects while the store is down. */
  admit(ids: readonly string[]): Admission | Promise<Admission>;
  /**
   * Takes the reports of one message. `done` is called once, when the batch that holds them is committed (or they are refused);
   * while the store is down it is simply not called yet. Reports keep their order within a device.
   */
  submit(device: Admitted, reports: readonly Report[], receivedAt: number, done: (outcome: Outcome) => void): void;
  /** The device sent a message that holds nothing to store: it is there. */
  heard(device: Admitted, receivedAt: number): void;
  /** True while so much waits that sockets should not be read; `onDrained` tells when to go on. */
  readonly congested: boolean;
  onDrained(listener: () => void): void;
}
