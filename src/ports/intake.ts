import type { SpeedUnit, SpokenWay } from "../model/device.ts";
import type { Report } from "../model/effects.ts";
import type { Network } from "../model/network.ts";
import type { WatchedDevice } from "./alert-engine.ts";

/** What the account asks of whoever says that it is the device; what is absent is not asked. */
export interface Guard {
  readonly protocols?: ReadonlySet<string>;
  readonly networks?: readonly Network[];
  /** Of the secret that its protocol must bring. */
  readonly secretHash?: string;
}

/**
 * A device that may report now. Held by a connection; `live` turns false when the device is deleted, changed or
 * expires, or was not asked for in a while.
 */
export interface Admitted extends WatchedDevice {
  readonly status: "admitted";
  /** Model of the tracker (the device's tag `model`), where a protocol's variants can't be told from the bytes. */
  readonly model?: string | undefined;
  /**
   * How the tracker was configured to write its messages (the device's tag `format`), where the bytes do not say that.
   */
  readonly format?: string | undefined;
  /** Its messages are taken whatever their checksum says (the device's tag `checksums` is `ignore`). */
  readonly ignoresChecksums?: boolean;
  /** What its clock is ahead of UTC, seconds; absent: it is right. */
  readonly timeOffset?: number | undefined;
  /** What its numbers of speed mean; absent: what its protocol says. */
  readonly speedUnit?: SpeedUnit | undefined;
  /** Absent: anybody who knows an identifier of it is taken for it. */
  readonly guard?: Guard | undefined;
  /** How it came before. */
  readonly ways: readonly SpokenWay[];
  /** False: it is to be admitted again before anything else of it is taken. */
  readonly live: boolean;
}

/** How a device came: a protocol over a transport, from an address. */
export type CameBy = Pick<SpokenWay, "protocol" | "transport" | "address">;

/** Why a device may not report: nobody registered it, or it has expired. */
export type NotAdmitted =
  | { readonly status: "unknown" }
  | { readonly status: "expired"; readonly id: string; readonly accountKey: number };

/** Whether a device may report now. */
export type Admission = Admitted | NotAdmitted;

/**
 * What became of the reports of one message. `stored`: on disk, as well as every exact repeat; the tracker may be told.
 * `refused`: the device expired or was deleted meanwhile; nothing is stored and nothing is told. `failed`: a defect of
 * ours kept them from being stored; nothing is told.
 */
export type Outcome = "stored" | "refused" | "failed";

/** The way from the gateway into ingest. */
export interface Intake {
  /** Which device these identifiers belong to. Answers at once where it is known; rejects while the store is down. */
  admit(ids: readonly string[]): Admission | Promise<Admission>;
  /** The same without asking the store: undefined where nothing is remembered. */
  recall(ids: readonly string[]): Admitted | undefined;
  /** The same by asking the store, whatever is remembered. */
  ask(ids: readonly string[]): Admission | Promise<Admission>;
  /**
   * By which way the device reports now. One that is new is recorded; the first that the device ever takes is trusted.
   */
  spoke(device: Admitted, by: CameBy): SpokenWay;
  /** The device's commands may go this way from now on; it is recorded. */
  trust(device: Admitted, way: SpokenWay): void;
  /**
   * Takes the reports of one message. `done` is called once, when they are on disk (or refused, or have failed);
   * while the store is down it is simply not called yet. Reports keep their order within a device.
   */
  submit(device: Admitted, reports: readonly Report[], receivedAt: number, done: (outcome: Outcome) => void): void;
  /** The device sent a message that holds nothing to store: it is there. */
  heard(device: Admitted, receivedAt: number): void;
  /** True while too much waits to read from sockets; `onDrained` tells when to go on. */
  readonly congested: boolean;
  /**
   * Whether to read more of a device. Not while more would crowd out others, because too much of the device or its
   * account waits. `onDrained` tells when to ask again.
   */
  takes(device: Admitted): boolean;
  onDrained(listener: () => void): void;
}
