import type { DeviceKey } from "../model/device.ts";
import type { DeviceHead, UnfollowedSpan } from "../model/follow.ts";
import type { Log } from "../ports/log.ts";
import type { PositionPage, PositionPlace } from "../ports/positions.ts";
import { bucketOf } from "../ports/processes.ts";
import type { FollowerDeps } from "./deps.ts";
import { withLate } from "./device-fold.ts";
import type { FollowedDevice } from "./followed-device.ts";
import { Loading } from "./loading.ts";
import { Memory } from "./memory.ts";

/** Devices in memory: more are read again when somebody asks. */
const mostCopies = 10_000;
/** Records that their follower has not committed yet, of one device: more of them count as late. */
const mostRecords = 20_000;
const pageRecords = 2000;

/**
 * Devices that other processes follow, as the store has them. They are read only: nothing of them is judged or
 * committed here. Whoever hears that something was appended drops them.
 */
export class Copies {
  readonly #store: FollowerDeps["store"];
  readonly #log: Log;
  readonly #memory: Memory;
  readonly #loading: Loading;

  constructor({ store, log }: Pick<FollowerDeps, "store" | "log">) {
    this.#store = store;
    this.#log = log;
    this.#memory = new Memory((device) => this.#loading.has(device), mostCopies);
    this.#loading = new Loading({
      ...{ store: store.follow, log },
      heads: async (devices) => {
        const keys = devices.map(({ key }) => key);
        // What is not among these any more stands in the heads.
        const spans = await store.positions.pending(keys);
        for (const [at, device] of devices.entries()) device.unread = spans[at];
        return store.follow.heads(keys);
      },
      prepare: () => undefined,
      register: async () => undefined,
      read: (spans) => Promise.all(spans.map((span) => this.#read(span))),
      watches: () => false,
      loaded: (device) => this.#loaded(device),
    });
  }

  get size(): number {
    return this.#memory.size;
  }

  async #read({ device, from, to }: UnfollowedSpan): Promise<PositionPage> {
    const records = [];
    for (let after: PositionPlace | undefined; ; ) {
      const range = { from, to, limit: pageRecords, ...(after && { after }) };
      const page = await this.#store.positions.read(device, range);
      records.push(...page.records);
      if (page.next === undefined || records.length >= mostRecords) return { ...page, records };
      after = page.next;
    }
  }

  #loaded(device: FollowedDevice): void {
    const { fold } = device;
    const waiting = device.takeWaiting(Number.POSITIVE_INFINITY);
    // More than a copy reads counts as late.
    device.markUnread();
    try {
      fold?.take(waiting, () => undefined);
    } catch (error) {
      this.#log.error({ error, device: device.key }, "positions of a device can't be folded");
      for (const { time } of waiting) fold?.mark(time, time);
    }
    this.#memory.weigh(device);
    // It is another one as soon as its follower has folded what is late.
    if (fold?.isLate === true) this.#memory.drop(device);
  }

  /** The device with its newest records. */
  of(key: DeviceKey): FollowedDevice | Promise<FollowedDevice> {
    const device = this.#memory.of(key);
    return device.isCurrent ? device : this.#loading.wait(device).then(() => device);
  }

  /**
   * The head as it is stored, with what may be missing in it as late: what was appended before the call is in it, and
   * its ended days are in the store.
   */
  async head(key: DeviceKey): Promise<DeviceHead | undefined> {
    const [span] = await this.#store.positions.pending([key]);
    const [head] = await this.#store.follow.heads([key]);
    return span === undefined ? head : withLate(head, [span]);
  }

  drop(key: DeviceKey): void {
    const device = this.#memory.get(key);
    if (device !== undefined) this.#drop(device);
  }

  /** If its head could not be read, that is not tried again. */
  #drop(device: FollowedDevice): void {
    device.left = true;
    this.#memory.drop(device);
  }

  /** This process follows them now. */
  forget(buckets: readonly number[]): void {
    for (const device of this.#memory.all()) if (buckets.includes(bucketOf(device.key))) this.#drop(device);
  }

  stop(): Promise<void> {
    return this.#loading.stop();
  }
}
