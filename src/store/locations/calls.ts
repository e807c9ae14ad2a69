import type { RefusedReport } from "../../model/commit.ts";
import type { DeviceKey } from "../../model/device.ts";
import type { RecordPlace } from "../../model/location.ts";
import type { LaidPatches, Rewrite } from "../records/batch.ts";
import type { Spent, SpentTable } from "../records/spent.ts";
import type { NewAlertRow, NewNoticeRow } from "../schema-alerts.ts";
import type { Waiting } from "./device-chunks.ts";
import type { CallFailure } from "./failures.ts";
import type { Trim } from "./spent-tail.ts";

/** A call and its answer. */
export interface Call<Request, Answer> {
  readonly request: Request;
  readonly answer: Answer;
}

/** A batch on its way to the writer. */
export interface CommitRequest {
  /** A packed batch; it comes back with the answer. */
  readonly buffer: ArrayBuffer;
  /** Row number of its first chunk. */
  readonly seq: number;
  readonly rewrites: readonly Rewrite[];
  readonly laid: readonly LaidPatches[];
  readonly refused: readonly RefusedReport[];
  /** Some of them may be stored already, by a commit whose answer was lost. */
  readonly refusedBefore: boolean;
  /** Bytes of refused reports that each device may have. */
  readonly refusedBytes: number;
  /** Rare, so they cross threads as plain values. */
  readonly alerts: readonly NewAlertRow[];
  readonly notices: readonly NewNoticeRow[];
  /** Written after the alerts. */
  readonly ended: readonly EndedAlerts[];
  /** From now on each state includes the chunks up to this row number, at least. */
  readonly asOf?: number | undefined;
}

/** The end of all open alerts of a rule and device up to a time; or the withdrawal of one alert, by its id. */
export interface EndedAlerts {
  readonly device: DeviceKey;
  readonly rule: number;
  readonly time: number;
  readonly foundAt: number;
  /** Id of the withdrawn alert; empty: none is withdrawn. */
  readonly withdrawn: string;
}

/** What became of a batch. */
export interface CommitAnswer {
  /** When there are any, nothing was written. */
  readonly conflicts: readonly DeviceKey[];
  /** Patches whose record was not found. */
  readonly missing: number;
  /** Refused reports that made room for these. */
  readonly madeRoom: number;
  readonly buffer: ArrayBuffer;
}

/** Successive chunks of one device, of which some are to be sealed. */
export interface SealRequest {
  readonly device: DeviceKey;
  readonly seqs: readonly number[];
  /** Shifts and patches of commits up to this row number are folded in. */
  readonly until: number;
  /** All shifts and patches are folded in. Then full blocks take in late chunks, however few. */
  readonly everything: boolean;
}

/** A block that is not stored yet. */
export interface PackedBlock {
  readonly first: number;
  readonly last: number;
  readonly count: number;
  /** Bytes of the records before packing. */
  readonly bytes: number;
  readonly data: Uint8Array<ArrayBuffer>;
}

/** A chunk that can't be read. */
export interface DamagedChunk {
  readonly seq: number;
  readonly first: number;
  readonly last: number;
  readonly count: number;
  readonly problem: string;
}

/** What became of chunks that were to be sealed. */
export interface SealAnswer {
  /** How many of the chunks, from the first one on, were dealt with. */
  readonly taken: number;
  /** The chunks whose records the blocks have. */
  readonly seqs: readonly number[];
  readonly blocks: readonly PackedBlock[];
  /** Lifts of blocks that stay. Each has `liftNumbers` numbers: the block's row number, and the mm and the four inputs' ms that are added to each record. */
  readonly lifts: Float64Array<ArrayBuffer>;
  /** Chunks that stay as they are, because they can't be read. */
  readonly damaged: readonly DamagedChunk[];
}

/** Numbers of a lift. */
export const liftNumbers = 6;

/** What the packer does. */
export interface PackerCalls {
  /** Answers undefined when one of the chunks is gone. */
  readonly seal: Call<SealRequest, SealAnswer | undefined>;
}

/** Chunks to be deleted, the blocks that take their place with row numbers from `seq` on, and lifts of other blocks. */
export interface SwapRequest extends Pick<SealAnswer, "seqs" | "blocks" | "lifts"> {
  readonly device: DeviceKey;
  readonly seq: number;
  /** See `SealRequest`. */
  readonly until: number;
  /** What is spent of the device from now on: its rows of the tail stay for now. Undefined: they are deleted. */
  readonly spent: Spent | undefined;
}

/** Chunks of a device that are deleted, and how many records they have in all. */
export interface DropRequest {
  readonly device: DeviceKey;
  readonly seqs: readonly number[];
  readonly count: number;
  /** A chunk that stays in their place. */
  readonly stays: number;
}

/** What became of chunks that were to be deleted. */
export interface DropAnswer {
  /** False: nothing was deleted, because some chunks are damaged or, if `damaged` is empty, gone. */
  readonly done: boolean;
  /** Those of the chunks, with the one that stays, whose rows can't be trusted. */
  readonly damaged: readonly number[];
}

/** Numbers of a chunk in the answer of a scan. */
export const scanColumns = 7;

/**
 * Marks an entry of a scan's answer that reports damage; it is in the place of the device. The rows from the number `as of` up to `seq` are damaged or can't be read, and it is unknown
 * whose they are; the times are about those of the lost records. If the device is known, it is in the place of `bytes`, and the damaged row is among the other entries, too.
 */
export const nobody = 0;

/** What late reports changed in the totals of a device and is damaged. */
export interface DamagedTotals {
  /** Undefined when it is unknown whose it is. */
  readonly device: DeviceKey | undefined;
  readonly problem: string;
}

/** Shifts and patches of a device that are not yet folded in. */
export interface WaitingLeft {
  readonly shifts: Waiting;
  readonly patches: Waiting;
}

/** Shifts and patches of a device that wait at the start. */
export interface WaitingRow extends Waiting {
  readonly device: DeviceKey;
  /** The highest row number of the commits that caused them. */
  readonly seq: number;
}

/** What the writer does. */
export interface WriterCalls {
  readonly append: Call<CommitRequest, CommitAnswer>;
  /** Does nothing and answers false when one of the chunks is gone. */
  readonly swap: Call<SwapRequest, boolean>;
  /** Forgets shifts and patches up to a row number. */
  readonly forget: Call<{ readonly device: DeviceKey; readonly seq: number }, WaitingLeft>;
  /** Deletes old chunks of a device and counts their records as deleted. Deletes none if one is gone or damaged. */
  readonly drop: Call<DropRequest, DropAnswer>;
  /** Deletes spent rows of the tail, unless more of the range's rows than `mostInUse` are in use. Answers how many are in use. */
  readonly trim: Call<Trim, number>;
  /** Deletes chunks: rows of the tail, or blocks. */
  readonly purge: Call<readonly number[], null>;
  /** Writes something, and tries whether positions could be written. */
  readonly check: Call<null, null>;
}

/** Some chunks of one device to be read in order, up to a bound. */
export interface ReadRequest {
  readonly device: DeviceKey;
  readonly seqs: readonly number[];
  readonly from: number;
  readonly to: number;
  /** Records at or after it come in a later step. */
  readonly bound: number;
  readonly after: RecordPlace | undefined;
  readonly limit: number;
}

/** A part of a history to be rendered as JSON. */
export interface RenderRequest extends ReadRequest {
  readonly odometerStart: number;
  /** See `HistoryRange`. */
  readonly readings: boolean;
  /** Buffers of pieces that have been read, to be used again. */
  readonly spares: readonly ArrayBuffer[];
}

/** What surrounds a place in some chunks of one device: see `HistoryContext`. */
export interface ContextRequest {
  readonly device: DeviceKey;
  readonly seqs: readonly number[];
  readonly place: RecordPlace;
  /** Records of this time or later may be missing from these chunks. */
  readonly bound: number;
  /** The most records behind the place. */
  readonly limit: number;
  /** Once the records have more bytes than this, the rest is left out. */
  readonly bytes: number;
}

/** What became of a context request: one of the chunks is gone, all was found, or records were left out for their bytes. Requests that failed have none of these. */
export const contextOutcome = { missing: 0, all: 1, cut: 2 } as const;

/** Why a context request failed. */
export interface ContextFailure extends CallFailure {
  readonly index: number;
}

/** Where a request's records are in the answer's bytes: the end of the record at or before the place, the end of the records behind the place, the number of these; and one of `contextOutcome`. */
export type ContextNumbers = readonly [number, number, number, number];

/** Answers to context requests. `table` has the `ContextNumbers` of each request. `bytes` has all records one after the other. */
export interface ContextsAnswer {
  /** Requests whose records are damaged or can't be read. All others are answered. */
  readonly failures: readonly ContextFailure[];
  /** Memory of the decompressed blocks that the reader keeps. */
  readonly cached: number;
  readonly table: Float64Array<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Chunks of one device that have records of a moment. */
export interface MomentRequest {
  readonly device: DeviceKey;
  readonly seqs: readonly number[];
  readonly time: number;
}

/** Content keys of the records of a moment, and the bytes of the newest record. Both are empty when there is no record. */
export interface MomentAnswer {
  readonly hashes: Float64Array<ArrayBuffer>;
  readonly newest: Uint8Array<ArrayBuffer>;
}

/** Numbers of a state in the answer: device, version, as of, start and end of the state's bytes. */
export const stateNumbers = 5;

/** States of the first `answered` of the devices, packed: `stateNumbers` for each that is there, and all their bytes. */
export interface StatesAnswer {
  readonly answered: number;
  readonly table: Float64Array<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Bytes of the first rows of those that were asked for. `ends`: where the bytes of each row end. A row that can't be read has none. */
export interface RowsAnswer {
  readonly ends: Float64Array<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** A piece of JSON with the place of its last record. */
export interface JsonPiece {
  readonly json: Uint8Array<ArrayBuffer>;
  readonly count: number;
  readonly last: RecordPlace;
}

/** What the reader does. */
export interface ReaderCalls {
  /** Rows of the tail from a row number on, `scanColumns` numbers each: seq, device (see `nobody`), first, last, count, bytes, as of. Empty when there are no more. */
  readonly scan: Call<number, Float64Array<ArrayBuffer>>;
  /** As `scan`, of blocks. */
  readonly scanBlocks: Call<number, Float64Array<ArrayBuffer>>;
  /** The highest row number of blocks, 0 without any. It stands for all of them before they are read. */
  readonly lastBlock: Call<null, number>;
  /** About how many blocks devices have: device and number in turn. Empty where the blocks can't be counted. */
  readonly blockCounts: Call<null, Float64Array<ArrayBuffer>>;
  /** Which rows of the tail are spent. */
  readonly spent: Call<null, SpentTable>;
  /** Whether any of these chunks is there, and not spent. */
  readonly holdsAny: Call<readonly number[], boolean>;
  /** What waits beside the chunks of each device to be folded in. */
  readonly waiting: Call<
    null,
    {
      readonly shifts: readonly WaitingRow[];
      readonly patches: readonly WaitingRow[];
      readonly damaged?: readonly DamagedTotals[];
    }
  >;
  /** The settings that hold the row number up to which stored states include the tail, as they are stored: see `asOfSetting`. */
  readonly statesAsOf: Call<null, readonly { readonly value?: unknown }[]>;
  readonly states: Call<readonly DeviceKey[], StatesAnswer>;
  readonly rows: Call<readonly number[], RowsAnswer>;
  /** Answers undefined when one of the chunks is gone. The index tells where its records are now. */
  readonly history: Call<RenderRequest, readonly JsonPiece[] | undefined>;
  /** The request: as `packRequests` packs it. */
  readonly contexts: Call<Float64Array<ArrayBuffer>, ContextsAnswer>;
  /** Answers undefined when one of the chunks is gone. */
  readonly moment: Call<MomentRequest, MomentAnswer | undefined>;
  /** Reads something. */
  readonly check: Call<null, null>;
}

/** Calls by name. */
export type Calls<C> = { readonly [K in keyof C]: Call<unknown, unknown> };

/** Calls to a part of an engine: a worker, or a connection. */
export interface Link<C extends Calls<C>> {
  /** Rejects with `StoreUnavailable` if the engine can't be used, or if its answer was lost: then the call may have been done. `transfer`: buffers that are handed over. */
  call<K extends keyof C & string>(
    name: K,
    request: C[K]["request"],
    transfer?: readonly ArrayBuffer[],
  ): Promise<C[K]["answer"]>;
}
