import type { LocationAlerts } from "../model/alert.ts";
import type { DeviceKey } from "../model/device.ts";
import type { UnfollowedSpan } from "../model/follow.ts";
import type { Totals } from "../model/location.ts";
import type { SaidRecord } from "../model/said.ts";

/**
 * Where positions are kept: what trackers said, and nothing that is derived from it. Two engines implement it; one
 * contract suite runs against both. Every call rejects with `StoreUnavailable` while the engine can't be used, and
 * works again by itself. No append fails because of what one device sent or has.
 */
export interface PositionStore {
  /**
   * One durable commit, which reads nothing. It resolves when all of it is on disk; it waits while the engine is full
   * (`PositionFigures.logBytes`). If it rejects, it may have been done: append the same again, since repeats are
   * dropped when they are read. Answers the place of the append, for `followed`: places are of this process, and later
   * appends have higher ones. An append of nothing answers the place of the last one that is known.
   */
  append(batch: readonly DeviceRecords[]): Promise<number>;
  /**
   * What was appended of devices that this process follows, and what it does not know of: what stands there from before
   * its start, and what other processes appended. Some devices at a time; each is given once. `how`: `all` looks
   * everywhere, `new` only for what others have just appended.
   */
  unfollowed(how: "all" | "new"): AsyncIterable<Unfollowed>;
  /**
   * Event times of what is not known to be followed, of devices that other processes follow, in the order asked. What
   * it lacks stands in heads that are read afterwards.
   */
  pending(devices: readonly DeviceKey[]): Promise<readonly (Omit<UnfollowedSpan, "device"> | undefined)[]>;
  /**
   * Everything that was appended up to this place is followed, or noted durably as late: an engine with a log packs it
   * no sooner. Not durable by itself: it may be forgotten over a kill.
   */
  followed(place: number): void;
  /**
   * This process follows these shares of the devices no longer. `areFollowed`: all that it knew of them is followed.
   * What it did not note as followed is the next one's to follow.
   */
  left(buckets: readonly number[], areFollowed: boolean): Promise<void>;
  /**
   * A device's records in a range of event time, ordered by event time and then by arrival, repeats dropped. Reads
   * every append that has resolved.
   */
  read(device: DeviceKey, range: PositionRange): Promise<PositionPage>;
  /** The first records of spans of several devices, as `read` gives them, in the order asked. */
  readEach(spans: readonly UnfollowedSpan[], limit: number): Promise<readonly PositionPage[]>;
  /**
   * Folds the same records, and writes them as JSON: so that an engine with threads of its own does so there. A page of
   * bounded size.
   */
  render(device: DeviceKey, ask: RenderAsk): Promise<RenderedPage>;
  /**
   * Hides a device's records from before a moment, deletes them by and by, and drops what comes of that time.
   * `Infinity`: the device is gone, and its records when this resolves. The moment never goes back.
   */
  deleteBefore(device: DeviceKey, moment: number): Promise<void>;
  figures(): PositionFigures;
  close(): Promise<void>;
}

/** Devices with what was appended and is to be followed. */
export interface Unfollowed {
  /** Their place: see `followed`. */
  readonly place: number;
  readonly spans: readonly UnfollowedSpan[];
}

/** What one device reported, in the order in which it came. A batch names each device once. */
export interface DeviceRecords {
  readonly device: DeviceKey;
  readonly records: readonly SaidRecord[];
}

/** A range of event time, both ends inclusive. */
export interface PositionRange {
  readonly from: number;
  readonly to: number;
  /** Where the page before ended. */
  readonly after?: PositionPlace;
  /** The most records of a page; a page of long records has fewer. */
  readonly limit: number;
}

/** Where a record stands: it is the nth of its moment, from 1. What comes later of the same moment stands behind it. */
export interface PositionPlace {
  readonly time: number;
  readonly nth: number;
}

/** Some of a device's records. */
export interface PositionPage {
  readonly records: readonly SaidRecord[];
  /** Where the next page goes on. Absent: these were the last. */
  readonly next?: PositionPlace;
  /** What of this time is damaged: its records are missing. A next page may tell the same again. */
  readonly unreadable: readonly Unreadable[];
}

/** Where a fold of a device's records stands. */
export interface FoldedTo {
  /** Event time of the last record; undefined: there is none. */
  readonly time: number | undefined;
  /** Sums over all of the history. */
  readonly totals: Totals;
}

/** Which records to write as JSON, and how. */
export interface RenderAsk extends PositionRange {
  /** The fold before the first of these records. */
  readonly fold: FoldedTo;
  /** Records up to and with this place are folded and not written. */
  readonly behind: PositionPlace;
  /** The most records to write. */
  readonly limit: number;
  /**
   * km, which are added to the mileage of the API's Locations. Undefined: Readings are written, and nothing is folded.
   */
  readonly odometerStart: number | undefined;
  /** What rules found, by event time. It is shown at the last record of the moment. */
  readonly found: ReadonlyMap<number, LocationAlerts>;
  /**
   * The memory of an earlier page that nobody reads any more: it is handed over. New memory for each page would wait
   * for the collector by the hundred MB.
   */
  readonly spare?: ArrayBuffer;
}

/** Some records in their order, as JSON objects that are joined by commas. */
export interface JsonPiece {
  readonly json: Uint8Array;
  readonly count: number;
  readonly last: PositionPlace;
}

/** Records as JSON. */
export interface RenderedPage {
  /** Each of some 100 KB, so that a turn of the event loop fits between. */
  readonly pieces: readonly JsonPiece[];
  /** Where the next page goes on. Absent: these were the last. */
  readonly next?: PositionPlace;
  /** The fold behind the last record. */
  readonly fold: FoldedTo;
  /** The page ends before this part, which is damaged. */
  readonly damage?: Unreadable;
  /** All pieces lie in it. */
  readonly memory: ArrayBuffer;
}

/** A part of a device's history that can't be read. */
export interface Unreadable {
  /** Event times of its first and last record, as far as they are known; otherwise about when it came. */
  readonly from: number;
  readonly to: number;
  /** What is damaged, for `check` and the log: "block 17: its checksum is wrong". */
  readonly what: string;
}

/** What an engine holds. */
export interface PositionFigures {
  /** What was appended and is not packed yet: its bytes on disk and in memory. Engines without a log have none. */
  readonly logRows: number;
  readonly logBytes: number;
  readonly blocks: number;
  readonly blockRecords: number;
  /** Records appended since the opening, repeats counted. */
  readonly appended: number;
  /** Since the opening: what was found damaged. */
  readonly damaged: number;
}
