import type { DeviceKey } from "../../../model/device.ts";
import type { UnfollowedSpan } from "../../../model/follow.ts";
import type { Log } from "../../../ports/log.ts";
import type {
  DeviceRecords,
  PositionFigures,
  PositionPage,
  PositionPlace,
  PositionRange,
  PositionStore,
  RenderAsk,
  RenderedPage,
  Unfollowed,
} from "../../../ports/positions.ts";
import { StoreUnavailable } from "../../../ports/store.ts";
import { Mutex } from "../../sqlite/workers/mutex.ts";
import { WorkerLink } from "../../sqlite/workers/worker-link.ts";
import { putRow } from "../log-row.ts";
import { readPacked } from "../packed-record.ts";
import { ByteSink } from "../sink.ts";
import type { PositionPackerCalls, PositionReaderCalls, PositionWriterCalls, RowPlace } from "./messages.ts";
import { Packing } from "./packing.ts";
import { Places } from "./places.ts";
import { UnfollowedRows } from "./unfollowed.ts";

/** Where positions are kept, and when they are packed. */
export interface SqlitePositionsOptions {
  readonly file: string;
  readonly log: Log;
  /** The log is packed when it has this many bytes, its places in memory counted. */
  readonly packFromBytes?: number;
  /** A smaller log is packed after this time, ms. */
  readonly packAfterMs?: number;
  /** Nothing is appended while the log has more, bytes, its places in memory counted. */
  readonly mostLogBytes?: number;
}

const usual = { packFromBytes: 64 * 1024 * 1024, packAfterMs: 30 * 60_000, mostLogBytes: 1024 * 1024 * 1024 };
/** After packing failed it is tried again, ms. */
const againMs = 60_000;
/** Spans that are told at a time. */
const spansAtOnce = 1000;
/** How far positions are followed is noted so often, ms. */
const noteMs = 30_000;
/** Blocks that are deleted in a transaction. */
const blocksAtOnce = 256;

/** The fold makes an object or two for each record: with less, the collector takes a quarter of the reader's time. */
const youngMb = 8;

/** Rows of the log for one page. */
const mostRows = 128;

/** Workers run the same kind of code as this file: TypeScript in a checkout, or the built JavaScript. */
const suffix = import.meta.url.endsWith(".ts") ? ".ts" : ".js";

function worker(name: string, heapMb: number) {
  return { name: `position ${name}`, file: new URL(`./${name}${suffix}`, import.meta.url), heapMb };
}

/** Opens the positions of a database file. Its tables are made where they are not there. */
export async function openSqlitePositions(options: SqlitePositionsOptions): Promise<SqlitePositions> {
  const store = new SqlitePositions(options);
  try {
    await store.open();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Positions in SQLite: commits go to a log, and from there into blocks. */
export class SqlitePositions implements PositionStore {
  readonly #options: Required<SqlitePositionsOptions>;
  readonly #log: Log;
  readonly #writer: WorkerLink<PositionWriterCalls>;
  readonly #reader: WorkerLink<PositionReaderCalls>;
  readonly #packer: WorkerLink<PositionPackerCalls>;
  readonly #places = new Places();
  readonly #packing: Packing;
  /** Whoever changes blocks has a turn. */
  readonly #turns = new Mutex();
  #figures = { logRows: 0, logBytes: 0, blocks: 0, blockRecords: 0, appended: 0, damaged: 0 };
  /** The number of the newest row that is known. */
  #seq = 0;
  readonly #unfollowed = new UnfollowedRows();
  #isUnfollowedTold = false;
  /** Everything up to this number is known on disk to be followed. */
  #followedOnDisk = 0;
  /** Up to which number rows were packed. */
  #packed = 0;
  #noting: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #waiting: (() => void)[] = [];
  readonly #closing = new AbortController();

  constructor(options: SqlitePositionsOptions) {
    const { file, log } = options;
    this.#options = { ...usual, ...options };
    this.#log = log;
    this.#writer = new WorkerLink(worker("writer", 64), file, log);
    this.#reader = new WorkerLink({ ...worker("reader", 256), youngMb }, file, log);
    this.#packer = new WorkerLink({ ...worker("packer", 256), givesWay: true }, file, log);
    this.#packing = new Packing(this.#writer, this.#packer, { places: this.#places, log });
  }

  /** Reads which rows the log has. */
  async open(): Promise<void> {
    const { seq, followed, blocks, records } = await this.#writer.call("open", null);
    this.#figures = { ...this.#figures, blocks, blockRecords: records };
    this.#unfollowed.followed(followed);
    this.#followedOnDisk = followed;
    await this.#scan(0, seq);
    this.#seq = seq;
    this.#plan();
  }

  async #scan(from: number, through: number): Promise<void> {
    for (let after = from; ; ) {
      const rows = await this.#reader.call("scan", { after, through });
      for (const { seq, bytes, spans } of rows) {
        after = seq;
        this.#figures.logRows++;
        this.#figures.logBytes += bytes;
        this.#unfollowed.add(seq, bytes);
        if (spans === undefined) this.#tellDamage(`log row ${seq}: its directory or its page can't be read`);
        else
          for (let at = 0; at < spans.length; at += 3)
            this.#places.add(spans[at] ?? 0, seq, spans[at + 1] ?? 0, spans[at + 2] ?? 0);
      }
      if (rows.length === 0) return;
    }
  }

  #tellDamage(what: string): void {
    this.#figures.damaged++;
    this.#log.error({ what }, "stored positions are damaged");
  }

  async append(batch: readonly DeviceRecords[]): Promise<number> {
    const filled = batch.filter(({ records }) => records.length > 0);
    if (filled.length === 0) return this.#seq;
    await this.#room();
    const sink = new ByteSink(64 * 1024);
    putRow(sink, filled);
    const { buffer, byteLength } = sink.cut();
    const seq = await this.#writer.call("append", buffer, [buffer]);
    // The answers to commits in between were lost. They were not acknowledged, but they are there.
    if (seq > this.#seq + 1) await this.#scan(this.#seq, seq - 1);
    this.#seq = Math.max(this.#seq, seq);
    this.#figures.logRows++;
    this.#figures.logBytes += byteLength;
    this.#unfollowed.add(seq, byteLength);
    for (const { device, records } of filled) {
      const [first, last] = spanOf(records);
      this.#places.add(device, seq, first, last);
      this.#figures.appended += records.length;
    }
    this.#plan();
    return seq;
  }

  /** Nobody else appends: what stands there from before the start is all. */
  async *unfollowed(): AsyncGenerator<Unfollowed, void, undefined> {
    if (this.#isUnfollowedTold) return;
    const { through } = this.#unfollowed;
    let some: UnfollowedSpan[] = [];
    const packed = through < this.#seq ? await this.#packedBehind(through) : [];
    for (const span of [...packed, ...this.#places.behind(through)]) {
      if (some.push(span) < spansAtOnce) continue;
      yield { place: 0, spans: some };
      some = [];
    }
    if (some.length > 0) yield { place: 0, spans: some };
    this.#isUnfollowedTold = true;
  }

  /** No other process follows anything. */
  async pending(devices: readonly DeviceKey[]): Promise<readonly undefined[]> {
    return devices.map(() => undefined);
  }

  async left(): Promise<void> {}

  /** What is packed was followed, but the follower's rows of a backup may be older than that. */
  async #packedBehind(seq: number): Promise<readonly UnfollowedSpan[]> {
    try {
      return [...spansIn(await this.#reader.call("packedBehind", seq))];
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || error.trouble !== "damaged") throw error;
      this.#tellDamage(`the places of blocks can't be read: ${error.message}`);
      return [];
    }
  }

  followed(place: number): void {
    this.#unfollowed.followed(Math.min(place, this.#seq));
    if (this.#closing.signal.aborted) return;
    if (this.#unfollowed.through > this.#followedOnDisk)
      this.#noting ??= setTimeout(() => this.#noteFollowed(), noteMs).unref();
    this.#plan();
  }

  /** What is not noted is followed again after a kill. */
  async #noteFollowed(): Promise<void> {
    clearTimeout(this.#noting);
    this.#noting = undefined;
    const followed = this.#unfollowed.through;
    if (followed === this.#followedOnDisk) return;
    try {
      await this.#writer.call("followed", followed);
      this.#followedOnDisk = followed;
    } catch (error) {
      this.#log.warn(
        { error: String(error) },
        "how far positions are followed can't be noted; they are followed again after a kill",
      );
    }
  }

  /** Bytes of the log's rows, and of their places in memory: of rows of single records, these are a fifth. */
  get #logBytes(): number {
    return this.#figures.logBytes + this.#places.bytes;
  }

  /** Waits while the log is full. */
  async #room(): Promise<void> {
    while (this.#logBytes > this.#options.mostLogBytes && !this.#closing.signal.aborted)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#closing.signal.aborted) throw new StoreUnavailable("the positions are closed");
  }

  async read(device: DeviceKey, range: PositionRange): Promise<PositionPage> {
    // The rows first, then the reader's snapshot: a row that is gone by then is in a block.
    const { rows, end } = this.#rowsOf(device, range);
    const request = { device, range: { ...range, to: Math.min(range.to, end - 1) }, rows };
    const { records, next = goingOn(range, end), unreadable } = await this.#reader.call("read", request);
    return { records: readPacked(records), ...(next && { next }), unreadable };
  }

  readEach(spans: readonly UnfollowedSpan[], limit: number): Promise<readonly PositionPage[]> {
    return Promise.all(spans.map(({ device, from, to }) => this.read(device, { from, to, limit })));
  }

  async render(device: DeviceKey, ask: RenderAsk): Promise<RenderedPage> {
    const { rows, end } = this.#rowsOf(device, ask);
    const request = { device, ask: { ...ask, to: Math.min(ask.to, end - 1) }, rows };
    const page = await this.#reader.call("render", request, ask.spare && [ask.spare]);
    const next = page.next ?? (page.damage === undefined ? goingOn(ask, end) : undefined);
    return { ...page, ...(next && { next }) };
  }

  /**
   * Rows of the log for the next records of a range. The page ends before `end`, where further rows begin: a device may
   * have very many.
   */
  #rowsOf(device: DeviceKey, { from, to, after }: PositionRange): { readonly rows: RowPlace[]; readonly end: number } {
    const begin = Math.max(from, after?.time ?? from);
    const rows = this.#places.of(device, begin, to);
    if (rows.length <= mostRows) return { rows, end: Number.POSITIVE_INFINITY };
    const firsts = Float64Array.from(rows, ({ first }) => first).sort();
    const end = firsts.subarray(mostRows).find((first) => first > begin) ?? Number.POSITIVE_INFINITY;
    return { rows: rows.filter(({ first }) => first < end), end };
  }

  async deleteBefore(device: DeviceKey, moment: number): Promise<void> {
    // Nobody reads them from now on.
    await this.#writer.call("keepFrom", { device, moment });
    for (let deleted: readonly number[] | undefined; deleted === undefined || deleted.length === blocksAtOnce; ) {
      deleted = await this.#turns.run(() => this.#writer.call("deleteBlocks", { device, moment, limit: blocksAtOnce }));
      this.#figures.blocks -= deleted.length;
      this.#figures.blockRecords -= deleted.reduce((sum, count) => sum + count, 0);
    }
  }

  /** Rejects where positions can't be written and read. */
  async check(): Promise<void> {
    await this.#writer.call("check", null);
    await this.#reader.call("scan", { after: this.#seq, through: this.#seq });
  }

  figures(): PositionFigures {
    return { ...this.#figures, logBytes: this.#logBytes };
  }

  /** Packs what is followed now. */
  async pack(): Promise<void> {
    const { through } = this.#unfollowed;
    // A start looks at what is packed, too, where it was not followed by then.
    await this.#noteFollowed();
    await this.#turns.run(() =>
      this.#packing.run(through, this.#closing.signal, ({ blocks, records, rows, bytes, damaged }) => {
        const before = this.#figures;
        this.#figures = {
          ...before,
          blocks: before.blocks + blocks,
          blockRecords: before.blockRecords + records,
          logRows: before.logRows - rows,
          logBytes: before.logBytes - bytes,
          damaged: before.damaged + damaged,
        };
        for (const resume of this.#waiting.splice(0)) resume();
      }),
    );
    this.#packed = through;
  }

  /** Packs at once where much can be packed, or later where anything can. */
  #plan(): void {
    if (this.#running !== undefined || this.#closing.signal.aborted || this.#figures.logRows === 0) return;
    if (this.#unfollowed.through <= this.#packed) return;
    // A log that is full before it has so many bytes makes room for those that wait.
    const enough = Math.min(this.#options.packFromBytes, this.#options.mostLogBytes / 2);
    if (this.#logBytes - this.#unfollowed.bytes >= enough) this.#start();
    else this.#timer ??= setTimeout(() => this.#start(), this.#options.packAfterMs).unref();
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#running ??= this.pack()
      .then(() => {
        this.#running = undefined;
        this.#plan();
      })
      .catch((error: unknown) => {
        this.#running = undefined;
        if (this.#closing.signal.aborted) return;
        this.#log.error({ error: String(error) }, "the log of positions can't be packed; it is tried again");
        this.#timer = setTimeout(() => this.#start(), againMs).unref();
      });
  }

  /** Ends the threads as a crash of the process would. Only `close` may be called afterwards. */
  async terminate(): Promise<void> {
    this.#closing.abort();
    this.#followedOnDisk = this.#unfollowed.through;
    await Promise.all([this.#writer, this.#reader, this.#packer].map((link) => link.terminate()));
  }

  /** Ends the thread that writes as a crash of it would. The next call starts it again. */
  loseWriter(): Promise<void> {
    return this.#writer.terminate();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    for (const resume of this.#waiting.splice(0)) resume();
    await this.#running;
    await this.#noteFollowed();
    await this.#turns.run(async () => {
      await this.#packer.close(() => this.#packer.call("close", null));
      await this.#reader.close(() => this.#reader.call("close", null));
      // After the others, so that the writer moves SQLite's own log into the database.
      await this.#writer.close(() => this.#writer.call("close", null));
    });
  }
}

/** Where a range goes on behind a page that ends before a moment. */
function goingOn({ to }: PositionRange, end: number): PositionPlace | undefined {
  return end <= to && end < Number.POSITIVE_INFINITY ? { time: end, nth: 0 } : undefined;
}

/** Each three numbers as a device and event times. */
function* spansIn(numbers: Float64Array): Iterable<UnfollowedSpan> {
  for (let at = 0; at < numbers.length; at += 3)
    yield { device: numbers[at] ?? 0, from: numbers[at + 1] ?? 0, to: numbers[at + 2] ?? 0 };
}

function spanOf(records: DeviceRecords["records"]): readonly [number, number] {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { time } of records) {
    first = Math.min(first, time);
    last = Math.max(last, time);
  }
  return [first, last];
}
