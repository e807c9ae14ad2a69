import type { Effect, Report } from "../model/effects.ts";
import type { DecodeOptions } from "../wire/protocol.ts";

/**
 * Why whoever said that it is a device was turned away: no device has its identifiers; the device has expired; it broke
 * a rule of its account (`doorkeeper.ts`); or its address was wrong too often (`knocks.ts`). The peer can't tell the
 * first three apart.
 */
export type Turned = "unknown" | "expired" | "barred" | "limited";

/** Why a message's data was not taken. */
export type Refusal = Turned | "notIdentified" | "changed";

/** What the trace is to show of a message. */
export interface Traced {
  readonly device: string;
  readonly message: Uint8Array;
  readonly effects: readonly Effect[];
}

/** One message and all that is to happen before the tracker hears of it. */
export class Exchange {
  readonly receivedAt: number;
  /** Reports of the present device that are not submitted yet. */
  reports: Report[] | undefined;
  /** Replies that wait until everything before them is stored. */
  replies: Uint8Array[] | undefined;
  /** Submissions whose outcome is not known. */
  outstanding = 0;
  /** All its effects were interpreted. */
  sealed = false;
  /** Waits in its session's queue. */
  queued = false;
  refusal: Refusal | undefined;
  /** The store or the intake can't be used at present. */
  unavailable = false;
  /** The message could not be used. */
  failed = false;
  /** And its bytes are junk: more than a message that we don't know. */
  useless = false;
  /** Something of it was submitted. */
  submitted = false;
  /** The device that it said who it is; told of once the exchange is finished. */
  reached: string | undefined;
  next: Exchange | undefined;
  traced: Traced | undefined;

  constructor(receivedAt: number) {
    this.receivedAt = receivedAt;
  }

  /** What became of it, in a word. */
  get outcome(): string {
    if (this.unavailable) return "unavailable";
    if (this.refusal !== undefined) return this.refusal;
    if (this.failed) return "failed";
    return this.submitted ? "stored" : "nothing to store";
  }
}

/** A message and the effects that are still to be interpreted: `from` is the next. */
export interface Work {
  readonly exchange: Exchange;
  readonly frame: Uint8Array;
  readonly effects: readonly Effect[];
  readonly from: number;
  /** How it was decoded. */
  readonly options: DecodeOptions;
  /** It was decoded again, with the options of the device that it names. */
  readonly knowing?: boolean;
}
