import type { Kysely } from "kysely";
import type { DeviceKey } from "../../model/device.ts";
import type { NoticeRoom } from "../../ports/alert-store.ts";
import { RecentMap } from "../../shares/recent-map.ts";
import type { Schema } from "../schema.ts";
import { giveBackDay } from "./notice-days.ts";

/** Rows that one step reads, deletes or ends: a millisecond or two of an engine's thread. */
const stepRows = 500;

/**
 * A device is checked each time it has made this part of the bound: checking a device that has too many notices reads
 * all of them.
 */
const lookEvery = 20;

/**
 * The most devices whose notices are counted, some 100 bytes each. The devices beyond, which made no notice for
 * longest, are checked at their next one.
 */
const mostDevices = 50_000;

const crowded = "too many notices of the device wait";

/**
 * Bounds the number of notices of each device. A commit only says how many it made. A device is checked at its first
 * notice since the start, and then each time it has made a twentieth of the bound. So a commit costs nothing more, and
 * a device may have some notices above the bound for a while.
 */
export class CrowdedNotices {
  readonly #most: number;
  readonly #lookAfter: number;
  /** Notices of each device since it was last checked. */
  readonly #made = new RecentMap<DeviceKey, number>(mostDevices);
  /** Devices to be checked, with the key of the last row that was read. */
  readonly #due = new Map<DeviceKey, number>();

  /** `most`: notices that each device may have. */
  constructor(most: number) {
    this.#most = most;
    this.#lookAfter = Math.max(1, Math.floor(most / lookEvery));
  }

  /** Notes how many notices of the device a commit stored. */
  made(device: DeviceKey, notices: number): void {
    const made = (this.#made.get(device) ?? this.#lookAfter) + notices;
    const looked = made >= this.#lookAfter;
    if (looked && !this.#due.has(device)) this.#due.set(device, 0);
    this.#made.set(device, looked ? 0 : made);
  }

  /**
   * Takes one step for one device. Devices take turns. A device whose rows can't be read is checked again at its next
   * notice.
   */
  async makeRoom(database: Kysely<Schema>, now: number): Promise<NoticeRoom> {
    const [next] = this.#due;
    if (next === undefined) return { givenUp: [], more: false };
    const [device, after] = next;
    this.#due.delete(device);
    try {
      return await this.#look(database, device, after, now);
    } catch (error) {
      this.#made.delete(device);
      throw error;
    }
  }

  async #look(database: Kysely<Schema>, device: DeviceKey, after: number, now: number): Promise<NoticeRoom> {
    const ofDevice = database.selectFrom("notice").where("device", "=", device);
    // Counted from the index, and no further than one step needs.
    const newestFirst = ofDevice.select("key").orderBy("key", "desc").offset(this.#most);
    const beyond = await newestFirst.limit(stepRows + 1).execute();
    if (beyond.length === 0) return this.#done();
    const some = ofDevice.select(["key", "finished_at"]).where("key", ">", after).orderBy("key").limit(stepRows);
    const rows = await some.execute();
    const ended = rows.filter(({ finished_at }) => finished_at !== null).slice(0, beyond.length);
    const keys = ended.map(({ key }) => key);
    await deleteEnded(database, keys);
    if (keys.length === beyond.length && beyond.length <= stepRows) return this.#done();
    const last = rows.at(-1);
    if (rows.length === stepRows && last !== undefined) {
      this.#due.set(device, last.key);
      return { givenUp: [], more: true };
    }
    // All that is left waits.
    return this.#giveUp(database, device, beyond.length - keys.length, now);
  }

  async #giveUp(database: Kysely<Schema>, device: DeviceKey, count: number, now: number): Promise<NoticeRoom> {
    const ended = await endOldest(database, device, Math.min(count, stepRows), now);
    const givenUp = ended.map(({ channel }) => ({ device, channel }));
    // Some of them stay until the next look, so that people see what happened.
    const keys = ended.map(({ key }) => key).toSorted((left, right) => left - right);
    await deleteEnded(database, keys.slice(0, Math.max(0, keys.length - this.#lookAfter)));
    if (count <= stepRows || ended.length === 0) return this.#done(givenUp);
    // Those that ended just now make room first.
    this.#due.set(device, 0);
    return { givenUp, more: true };
  }

  #done(givenUp: NoticeRoom["givenUp"] = []): NoticeRoom {
    return { givenUp, more: this.#due.size > 0 };
  }
}

/** Those that were queued once more meanwhile stay. */
async function deleteEnded(database: Kysely<Schema>, keys: readonly number[]): Promise<void> {
  if (keys.length === 0) return;
  await database.deleteFrom("notice").where("key", "in", keys).where("finished_at", "is not", null).execute();
}

/** Ends the oldest queued notices of a device as failed. */
function endOldest(database: Kysely<Schema>, device: DeviceKey, count: number, now: number) {
  return database.transaction().execute(async (transaction) => {
    const oldest = transaction
      .selectFrom("notice")
      .select("key")
      .where("device", "=", device)
      // By a parameter, so that an engine does not take an index of all that wait.
      .where("state", "=", "queued")
      .orderBy("key")
      .limit(count);
    const rows = await transaction
      .updateTable("notice")
      .set({ state: "failed", reason: crowded, finished_at: now })
      .where("key", "in", oldest)
      // Not in the subquery alone, which PostgreSQL does not look at again: a notice that was claimed meanwhile stays.
      .where("state", "=", "queued")
      .returning(["key", "device", "channel", "counted_day", "counted_places"])
      .execute();
    const counted = rows.filter(({ counted_day }) => counted_day !== null);
    for (const row of counted) await giveBackDay(transaction, row);
    if (counted.length > 0) {
      const keys = counted.map(({ key }) => key);
      await transaction.updateTable("notice").set({ counted_day: null }).where("key", "in", keys).execute();
    }
    return rows;
  });
}
