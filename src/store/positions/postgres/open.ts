import type { PoolClient, QueryConfig, QueryResult, QueryResultRow } from "pg";
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
import { again } from "../../postgres/again.ts";
import { hasMetAnother, isDiskFull, type Stage, storeError, withoutStandby } from "../../postgres/errors.ts";
import { makePool, type ServerPool } from "../../postgres/pool.ts";
import type { Run } from "../../postgres/run.ts";
import { type Times, usualTimes } from "../../postgres/times.ts";
import type { ServerAddress } from "../../postgres/url.ts";
import { renderRead } from "../render-read.ts";
import {
  appendRows,
  columnsOf,
  type EachRow,
  type PositionRow,
  readEachRows,
  readRows,
  recordOf,
  spansOf,
} from "./columns.ts";
import { deleteOld } from "./old-months.ts";
import { type Follows, PendingRows } from "./pending.ts";
import { makeMonths, makeTables } from "./tables.ts";

/** How to open positions in a PostgreSQL database. */
export interface PostgresPositionsOptions {
  readonly log: Log;
  readonly connections?: number;
  readonly times?: Times;
  /** The run of the service that appends. Unset: for tools and tests. */
  readonly run?: Run;
  /** This process among those of the service. Unset: it has the database alone, and follows all devices. */
  readonly processes?: Follows;
}

const usualConnections = 4;
/** How often partitions of new months are made, ms. */
const monthsMs = 86_400_000;
/** So long after a start, and after old positions were hidden, they are deleted, ms: mostly those of many devices. */
const deleteAfterMs = 60_000;
/** A page ends behind so many bytes of readings. */
const pageBytes = 1024 * 1024;
/** Rows of a page that are read at once at first, while nobody knows how long they are. */
const firstRows = 256;
/** Rows of a device that are deleted in a transaction. */
const rowsAtOnce = 10_000;
/** Who has the database alone. */
const alone: Follows = { name: "alone", follows: () => true };
/** Rows of each device that are read with those of others; of a device with more, all are read alone. */
const eachRows = 32;
/** What a row takes beside its readings, bytes. */
const rowBytes = 100;
const tryRow =
  "insert into position (device, time, key, arrival, received_at, valid) values (0, now(), 0, 0, now(), false)";
/** Sorts more than it may keep in memory: some megabytes go to the disk, and are deleted at once. */
const tryDisk = [
  "select set_config('work_mem', '64kB', true)",
  "select count(distinct md5(n::text)) from generate_series(1, 50000) as n",
];

/** Opens the positions of a database. Any number of processes may do so at the same time. */
export async function openPostgresPositions(
  address: ServerAddress,
  { log, connections = usualConnections, times = usualTimes, run, processes }: PostgresPositionsOptions,
): Promise<PostgresPositions> {
  const pool = makePool({ address, connections, times, log, ...(run !== undefined && { run }) });
  const store = new PostgresPositions(pool, log, processes ?? alone);
  try {
    await store.open();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Positions as rows of PostgreSQL. Everything else is the server's business. */
export class PostgresPositions implements PositionStore {
  readonly #pool: ServerPool;
  readonly #log: Log;
  readonly #pending: PendingRows;
  #appended = 0;
  #forgetting: Promise<void> | undefined;
  /** Something found the disk full, and no check since found room. */
  #isFull = false;
  #timer: NodeJS.Timeout | undefined;
  #deleting: NodeJS.Timeout | undefined;
  #old: Promise<void> | undefined;
  #isClosing = false;

  constructor(pool: ServerPool, log: Log, processes: Follows) {
    this.#pool = pool;
    this.#log = log;
    this.#pending = new PendingRows(processes, (text, values) =>
      this.#try("sent", async () => (await pool.query({ text, values: [...values] })).rows),
    );
  }

  /** Makes the tables where they are not there, and the partitions of the months around now. */
  async open(): Promise<void> {
    await this.#inTransaction(makeTables);
    await this.#makeMonths();
    const makeMore = () => this.#makeMonths().catch((error: unknown) => this.#tellNoMonths(error));
    this.#timer = setInterval(makeMore, monthsMs).unref();
    this.#deleteLater();
  }

  async #makeMonths(): Promise<void> {
    try {
      await this.#inTransaction(makeMonths);
    } catch (error) {
      // A backup that reads the default partition may hold it for hours.
      if (!(error instanceof StoreUnavailable) || error.trouble !== "exhausted") throw error;
      this.#tellNoMonths(error);
    }
  }

  #tellNoMonths(error: unknown): void {
    this.#log.warn({ error: String(error) }, "partitions of positions can't be made now; the default one takes them");
  }

  async #inTransaction(work: (client: PoolClient) => Promise<void>): Promise<void> {
    await this.#try("sent", () =>
      this.#pool.use(async (client) => {
        await client.query("begin");
        await work(client);
        await client.query("commit");
      }),
    );
  }

  /** Tries again what the server rolled back because of another transaction. */
  #try<T>(stage: Stage, work: () => Promise<T>): Promise<T> {
    const once = async () => {
      try {
        return await work();
      } catch (error) {
        const told = storeError(error, stage);
        this.#isFull ||= isDiskFull(told);
        throw told;
      }
    };
    return again(once, hasMetAnother);
  }

  /**
   * Tries whether positions could be written. A small row finds room on a full disk, too, in a page that has some. So
   * once the disk was full, much is written.
   */
  async check(): Promise<void> {
    await this.#inTransaction(async (client) => {
      await client.query("savepoint before");
      await client.query(tryRow);
      if (this.#isFull) for (const statement of tryDisk) await client.query(statement);
      await client.query("rollback to savepoint before");
    });
    this.#isFull = false;
  }

  async append(batch: readonly DeviceRecords[]): Promise<number> {
    if (batch.every(({ records }) => records.length === 0)) return this.#pending.place;
    const buckets = this.#pending.bucketsOf(batch.map(({ device }) => device));
    const values = [...columnsOf(batch), this.#pending.holder, buckets, ...spansOf(batch)];
    const query = { name: "append_positions", text: appendRows, values };
    const { rows } = await this.#try("sent", () => this.#durably<{ commit: number }>(query));
    this.#appended += batch.reduce((sum, { records }) => sum + records.length, 0);
    return this.#pending.appended(rows[0]?.commit ?? 0, buckets);
  }

  /** Fails if a standby may lack what was written. */
  #durably<R extends QueryResultRow>(query: QueryConfig): Promise<QueryResult<R>> {
    return this.#pool.use(async (client) => {
      const answer = await client.query<R>(query);
      if (this.#pool.wasCutOff(client)) throw withoutStandby();
      return answer;
    });
  }

  unfollowed(how: "all" | "new"): AsyncIterable<Unfollowed> {
    return this.#pending.take(how);
  }

  pending(devices: readonly DeviceKey[]): ReturnType<PositionStore["pending"]> {
    return this.#pending.of(devices);
  }

  followed(place: number): void {
    this.#pending.followed(place);
    this.#forget();
  }

  async left(buckets: readonly number[], areFollowed: boolean): Promise<void> {
    this.#pending.left(buckets, areFollowed);
    await this.#forget();
  }

  /** What is not deleted is followed again by another process, or after a kill. */
  #forget(): Promise<void> {
    this.#forgetting ??= this.#pending
      .forget()
      .catch((error: unknown) =>
        this.#log.warn(
          { error: String(error) },
          "how far positions are followed can't be noted; they are followed again",
        ),
      )
      .finally(() => {
        this.#forgetting = undefined;
      });
    return this.#forgetting;
  }

  async read(device: DeviceKey, { from, to, after, limit }: PositionRange): Promise<PositionPage> {
    const records = [];
    let place = after;
    let bytes = 0;
    while (records.length < limit && bytes < pageBytes) {
      const room = Math.floor((pageBytes - bytes) / (records.length === 0 ? rowBytes : bytes / records.length));
      const most = Math.max(1, Math.min(limit - records.length, records.length === 0 ? firstRows : room));
      const rows = await this.#rows(device, [place?.time ?? from, to, place?.nth ?? 0, most + 1]);
      for (const row of rows.slice(0, most)) {
        if (bytes >= pageBytes) return { records, ...(place && { next: place }), unreadable: [] };
        records.push(recordOf(row));
        bytes += rowBytes + (row.readings?.length ?? 0);
        place = placeBehind(place, row.time);
      }
      if (rows.length <= most) return { records, unreadable: [] };
    }
    return { records, ...(place && { next: place }), unreadable: [] };
  }

  async readEach(spans: readonly UnfollowedSpan[], limit: number): Promise<readonly PositionPage[]> {
    const values = [spans.map(({ device }) => device), spans.map(({ from }) => from), spans.map(({ to }) => to)];
    const query = { name: "read_each", text: readEachRows, values: [...values, eachRows] };
    const { rows } = await this.#try("asked", () => this.#pool.query<EachRow>(query));
    const found = Map.groupBy(rows, ({ nth }) => nth);
    const pages: PositionPage[] = [];
    for (const [at, { device, from, to }] of spans.entries()) {
      const own = found.get(at + 1) ?? [];
      if (own.length === eachRows) pages.push(await this.read(device, { from, to, limit }));
      else pages.push({ records: own.map(({ nth: _, arrival: __, ...row }) => recordOf(row)), unreadable: [] });
    }
    return pages;
  }

  render(device: DeviceKey, ask: RenderAsk): Promise<RenderedPage> {
    return renderRead(this, device, ask);
  }

  #rows(device: DeviceKey, values: readonly number[]): Promise<readonly PositionRow[]> {
    const query = { name: "read_positions", text: readRows, values: [device, ...values] };
    return this.#try("asked", async () => (await this.#pool.query<PositionRow>(query)).rows);
  }

  async deleteBefore(device: DeviceKey, moment: number): Promise<void> {
    await this.#try("sent", () =>
      this.#pool.query(
        `insert into position_kept values ($1, to_timestamp($2::float8 / 1000))
          on conflict (device) do update set since = greatest(position_kept.since, excluded.since)`,
        [device, moment],
      ),
    );
    if (moment === Number.POSITIVE_INFINITY) await this.#deleteDevice(device);
    else this.#deleteLater();
  }

  async #deleteDevice(device: DeviceKey): Promise<void> {
    const deletion = `
      with old as (select time, key from position where device = $1 limit ${rowsAtOnce})
      delete from position using old where device = $1 and position.time = old.time and position.key = old.key`;
    for (let deleted = rowsAtOnce; deleted === rowsAtOnce; )
      deleted = (await this.#try("sent", () => this.#pool.query(deletion, [device]))).rowCount ?? 0;
  }

  #deleteLater(): void {
    this.#deleting ??= setTimeout(() => {
      this.#deleting = undefined;
      this.deleteOld().catch((error: unknown) =>
        this.#isClosing
          ? undefined
          : this.#log.warn({ error: String(error) }, "old positions can't be deleted now; they are hidden"),
      );
    }, deleteAfterMs).unref();
  }

  /** Deletes the positions that are hidden. */
  deleteOld(): Promise<void> {
    this.#old ??= deleteOld(async (work) => {
      // What is left of it is deleted after the next start.
      if (this.#isClosing) throw new StoreUnavailable("the positions are closed");
      await this.#inTransaction(work);
    }).finally(() => {
      this.#old = undefined;
    });
    return this.#old;
  }

  figures(): PositionFigures {
    return { logRows: 0, logBytes: 0, blocks: 0, blockRecords: 0, appended: this.#appended, damaged: 0 };
  }

  /** Breaks all connections as a crash of the process would. Only `close` may be called afterwards. */
  terminate(): void {
    this.#pool.break();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    clearTimeout(this.#deleting);
    this.#isClosing = true;
    await this.#old?.catch(() => undefined);
    await this.#forgetting;
    if (!this.#pool.ending) await this.#pool.endIn(usualTimes.connect);
  }
}

function placeBehind(before: PositionPlace | undefined, time: number): PositionPlace {
  return { time, nth: before?.time === time ? before.nth + 1 : 1 };
}
