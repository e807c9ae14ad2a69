import type { DeviceKey } from "../../../model/device.ts";
import type { PositionPlace, PositionRange, RenderAsk, RenderedPage, Unreadable } from "../../../ports/positions.ts";
import type { Call } from "../../sqlite/workers/calls.ts";
import type { BlockChange } from "../compaction.ts";

/** A change of a device's blocks. `number`: see `BlockHead`. */
export interface DeviceChange extends BlockChange {
  readonly device: DeviceKey;
  readonly number: number;
}

/** What there is at the opening. */
export interface Opening {
  /** The highest number that a row has or had. */
  readonly seq: number;
  /** Everything up to this number was followed. */
  readonly followed: number;
  readonly blocks: number;
  readonly records: number;
}

/** Rows of the log that may go. */
export interface Spent {
  readonly through: number;
  /** But not these. */
  readonly except: readonly number[];
  readonly limit: number;
}

/** What the worker that writes does. Everything is durable when it answers. */
export interface PositionWriterCalls {
  readonly open: Call<null, Opening>;
  /** Appends a row, and tells its number. The buffer is handed over. */
  readonly append: Call<ArrayBuffer, number>;
  /** One transaction. Tells of each change whether it was done: not where a block that is to go is gone already. */
  readonly apply: Call<readonly DeviceChange[], readonly boolean[]>;
  /** Deletes at most `limit` rows. Tells the bytes of each. */
  readonly deleteRows: Call<Spent, readonly number[]>;
  /** Everything up to this number is followed. */
  readonly followed: Call<number, void>;
  readonly keepFrom: Call<{ readonly device: DeviceKey; readonly moment: number }, void>;
  /** Deletes at most `limit` blocks that end before a moment. Tells the counts of those. */
  readonly deleteBlocks: Call<
    { readonly device: DeviceKey; readonly moment: number; readonly limit: number },
    readonly number[]
  >;
  /** Writes a row. */
  readonly check: Call<null, void>;
  readonly close: Call<null, void>;
}

/** What a row of the log holds. */
export interface RowContents {
  readonly seq: number;
  readonly bytes: number;
  /** Of each device: its key, and event times of its first and its last record. Undefined: the row is damaged. */
  readonly spans: Float64Array | undefined;
}

/** Rows of the log in which a device has records. */
export interface RowPlace {
  readonly seq: number;
  /** No record is earlier or later. */
  readonly first: number;
  readonly last: number;
}

/** What to read of a device. */
export interface ReadRequest {
  readonly device: DeviceKey;
  readonly range: PositionRange;
  readonly rows: readonly RowPlace[];
}

/** What to write of a device as JSON. */
export interface RenderRequest {
  readonly device: DeviceKey;
  readonly ask: RenderAsk;
  readonly rows: readonly RowPlace[];
}

/** Records as the log has them. */
export interface ReadAnswer {
  readonly records: Uint8Array<ArrayBuffer>;
  readonly next: PositionPlace | undefined;
  readonly unreadable: readonly Unreadable[];
}

/** What a worker that reads does. */
export interface PositionReaderCalls {
  /** Rows of the log behind a number, up to another: some at a time. None: there are no more. */
  readonly scan: Call<{ readonly after: number; readonly through: number }, readonly RowContents[]>;
  /**
   * Devices with blocks of rows behind a number: of each its key, and event times of the first and the last record of
   * these blocks.
   */
  readonly packedBehind: Call<number, Float64Array<ArrayBuffer>>;
  readonly read: Call<ReadRequest, ReadAnswer>;
  readonly render: Call<RenderRequest, RenderedPage>;
  readonly close: Call<null, void>;
}

/** Rows that were loaded to be packed. */
export interface Loaded {
  /** The number of the last one. */
  readonly through: number;
  readonly devices: readonly DeviceKey[];
  /** Numbers of rows that can't be read. */
  readonly damaged: readonly number[];
  /** What is left of them, as blocks of no device. */
  readonly wrecks: readonly DeviceChange[];
}

/** What became of the records of some devices. */
export interface Packed {
  readonly changes: readonly DeviceChange[];
  /** Devices that can't be packed, with the reasons. */
  readonly failed: readonly { readonly device: DeviceKey; readonly why: string }[];
  readonly damaged: readonly string[];
}

/** What the worker that packs does. */
export interface PositionPackerCalls {
  /** Loads rows behind a number, up to another: about so many bytes. Undefined: there are none. */
  readonly load: Call<{ readonly after: number; readonly through: number; readonly bytes: number }, Loaded | undefined>;
  /** Packs what the loaded rows have of these devices. */
  readonly pack: Call<readonly DeviceKey[], Packed>;
  readonly unload: Call<null, void>;
  readonly close: Call<null, void>;
}
