import type { Device, DeviceKey } from "../model/device.ts";
import type { DeviceHead } from "../model/follow.ts";
import type { Standing } from "../model/standing.ts";
import type { WatchedDevice } from "../ports/alert-engine.ts";
import type { CommittedDevice } from "../ports/bus.ts";
import type { AppendedRecords, Following, Heads } from "../ports/follow.ts";
import type { LastLocations, Latest } from "../ports/last-location.ts";
import type { BucketsHeir, Processes } from "../ports/processes.ts";
import { Copies } from "./copies.ts";
import type { FollowerDeps } from "./deps.ts";
import type { FollowedDevice } from "./followed-device.ts";
import { Hearing } from "./hearing.ts";
import { Keeping } from "./keeping.ts";
import { LateBefore } from "./late-before.ts";
import { OwnDevices } from "./own-devices.ts";
import { standingOf } from "./standing.ts";
import { Taking } from "./taking.ts";

/**
 * Follows what is appended: folds each device's records, judges its rules, and commits what follows from them. Each
 * device is followed by one process: `OwnDevices` are this one's, of all others there are `Copies`. Where it is the
 * only process, all devices are its own.
 */
export class Follower implements Following, Heads, LastLocations, BucketsHeir {
  /** Deletes old positions. */
  readonly keeping: Keeping;
  readonly #deps: FollowerDeps;
  readonly #processes: Processes;
  readonly #own: OwnDevices;
  readonly #copies: Copies;
  readonly #taking: Taking;
  readonly #hearing: Hearing;
  readonly #lateBefore: LateBefore;
  readonly #unsubscribe: () => void;
  #isStopping = false;

  constructor(deps: FollowerDeps) {
    const { store, bus, log } = deps;
    const { processes } = store;
    this.#deps = deps;
    this.#processes = processes;
    const own = new OwnDevices(deps, () => this.#taking.known);
    this.#own = own;
    this.#copies = new Copies(deps);
    this.#taking = new Taking({ ...{ positions: store.positions, processes, log }, take: (some) => own.take(some) });
    this.#hearing = new Hearing({ ...deps, processes });
    this.#lateBefore = new LateBefore({
      ...{ store: store.follow, log },
      load: (key) => processes.follows(key) && own.load(key),
      behind: () => own.refolding.behind,
    });
    this.keeping = new Keeping({
      ...{ follow: store.follow, positions: store.positions },
      follows: (key) => processes.follows(key),
      device: (key) => own.memory.of(key),
      loaded: (key) => this.#current(key),
      changed: (device) => own.changed(device),
      write: (device) => own.commits.write([device]),
    });
    processes.heir = this;
    this.#unsubscribe = bus.subscribe((event, from) => {
      if (event.type === "deviceChanged") own.deviceChanged(event.key);
      else if (event.type === "committed" && from !== undefined) this.#told(event.devices);
      else if (event.type === "heard" && from !== undefined) this.#hearing.told(event.devices);
    });
  }

  /**
   * Takes its share of the devices. Resolves when it is known what was appended of them and not followed; it is folded
   * by and by.
   */
  async start(): Promise<void> {
    const { positions } = this.#deps.store;
    const last = await positions.append([]);
    await this.#processes.start();
    await this.#taking.begin();
    // From now on everything up to there is followed, or among what is not committed.
    this.#own.commits.reached(last);
  }

  gained(buckets: readonly number[]): void {
    this.#copies.forget(buckets);
    this.#deps.engine.sharesMoved(buckets);
    const next = () => {
      if (!this.#isStopping) this.#lateBefore.begin();
    };
    // What can't be taken now is asked for again.
    this.#taking.now("all").then(next, next);
  }

  async lose(buckets: readonly number[]): Promise<void> {
    // What is being taken is known, and not lost.
    await this.#taking.over;
    await this.#own.leave(buckets);
    this.#deps.engine.sharesMoved([]);
  }

  /** Another process appended something of these devices, or followed it. */
  #told(devices: readonly CommittedDevice[]): void {
    let isOwn = false;
    for (const { device } of devices)
      if (this.#processes.follows(device.key)) isOwn = true;
      else this.#copies.drop(device.key);
    if (isOwn) this.#taking.soon();
  }

  get lagBytes(): number {
    return this.#own.lag.bytes;
  }

  get isFull(): boolean {
    return this.#own.lag.isFull;
  }

  /** Devices with late records that wait for their turn. */
  get behind(): number {
    return this.#own.refolding.behind;
  }

  /** For how long the first of them has waited, seconds. */
  get lateSeconds(): number {
    return this.#own.refolding.lateMs / 1000;
  }

  /** Devices with something that is not committed. */
  get uncommitted(): number {
    return this.#own.commits.size;
  }

  get inMemory(): number {
    return this.#own.memory.size + this.#copies.size;
  }

  onRoom(listener: () => void): void {
    this.#own.lag.onRoom(listener);
  }

  heard(device: Pick<WatchedDevice, "key" | "id">, now: number): void {
    this.#hearing.heard(device, now);
  }

  appended(batch: readonly AppendedRecords[], place: number): void {
    this.#own.commits.reached(place);
    const others = batch.filter(({ device }) => !this.#processes.follows(device.key));
    for (const { device } of others) this.#copies.drop(device.key);
    const own = others.length === 0 ? batch : batch.filter(({ device }) => this.#processes.follows(device.key));
    this.#own.appended(own, place);
    this.#deps.bus.publish({ type: "committed", devices: batch.map(({ device }) => ({ device, plan: {} })) });
  }

  mayBeAppended(key: DeviceKey, span: { readonly from: number; readonly to: number }): void {
    if (this.#processes.follows(key)) this.#own.mayBeAppended(key, span);
    // Whoever follows it finds it, if it is there.
    else this.#copies.drop(key);
  }

  /** Time may have made something true for these devices. */
  due(devices: readonly WatchedDevice[]): void {
    for (const device of devices) if (this.#processes.follows(device.key)) this.#own.due(device);
  }

  head(key: DeviceKey): DeviceHead | undefined | Promise<DeviceHead | undefined> {
    // The last of the others may have left something that is not taken yet.
    const isAlone = this.#processes.others.length === 0 && this.#taking.isComplete;
    return isAlone && this.#processes.follows(key) ? this.#own.head(key) : this.#headNow(key);
  }

  async #headNow(key: DeviceKey): Promise<DeviceHead | undefined> {
    if (this.#processes.follows(key)) {
      await this.#taking.now("new");
      try {
        const head = this.#processes.follows(key) ? await this.#own.head(key) : undefined;
        if (this.#processes.follows(key)) return head;
      } catch (error) {
        if (this.#processes.follows(key)) throw error;
      }
    }
    return this.#copies.head(key);
  }

  #current(key: DeviceKey): FollowedDevice | Promise<FollowedDevice> {
    if (!this.#processes.follows(key)) return this.#copies.of(key);
    const device = this.#own.current(key);
    if (!(device instanceof Promise)) return device;
    return device.then(
      (own) => (this.#processes.follows(key) ? own : this.#copies.of(key)),
      (error: unknown) => {
        if (this.#processes.follows(key)) throw error;
        return this.#copies.of(key);
      },
    );
  }

  lastLocation({ key, odometerStart }: Device): string | undefined | Promise<string | undefined> {
    const latest = this.latest({ key, odometerStart });
    return latest instanceof Promise ? latest.then(({ json }) => json) : latest.json;
  }

  latest({ key, odometerStart }: Pick<Device, "key" | "odometerStart">): Latest | Promise<Latest> {
    const device = this.#current(key);
    return device instanceof Promise
      ? device.then((current) => current.latest(odometerStart))
      : device.latest(odometerStart);
  }

  /** How devices that this process follows stand, in the order asked; undefined: it never reported. */
  standings(keys: readonly DeviceKey[]): Promise<readonly (Standing | undefined)[]> {
    return Promise.all(
      keys.map(async (key) => {
        const head = this.#processes.follows(key) ? await this.#own.head(key) : undefined;
        return head?.newest === undefined ? undefined : standingOf(head);
      }),
    );
  }

  /**
   * Commits what is not committed. While the store is down it gives up: what was not followed is found at the next
   * start.
   */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#unsubscribe();
    this.#hearing.stop();
    await this.#taking.stop();
    await this.#lateBefore.stop();
    await this.#copies.stop();
    await this.#own.stop();
  }
}
