import type { Device, DeviceKey } from "../model/device.ts";
import type { DeviceHead } from "../model/follow.ts";
import type { Standing } from "../model/standing.ts";
import type { AlertOutcome, WatchedDevice } from "../ports/alert-engine.ts";
import type { AppendedRecords, Following, FreshRecord, Heads } from "../ports/follow.ts";
import type { LastLocations, Latest } from "../ports/last-location.ts";
import { StoreUnavailable } from "../ports/store.ts";
import { Commits } from "./commits.ts";
import type { FollowerDeps } from "./deps.ts";
import type { DeviceFold } from "./device-fold.ts";
import { bytesOfRecord, type FollowedDevice } from "./followed-device.ts";
import { arePrepared, watchedOf, watchFor } from "./guarded-watch.ts";
import { Keeping } from "./keeping.ts";
import { Lag } from "./lag.ts";
import { LateBefore } from "./late-before.ts";
import { Loading } from "./loading.ts";
import { Memory } from "./memory.ts";
import { readsOf } from "./reads.ts";
import { Refolding } from "./refolding.ts";
import { standingOf } from "./standing.ts";

/** Memory of records that wait for the head of one device, bytes. What is more is read from the store afterwards. */
const mostWaitingBytes = 8 * 1024 * 1024;

/** Records that nobody followed are taken as if they had just come, so many of each device. */
const mostUnreadRecords = 1000;

/**
 * Follows what is appended: folds each device's records, judges its rules, and commits what follows from them. Newer records are taken at once; late ones are folded in their places when it
 * is their device's turn. Everything that it holds can be made again from what is stored.
 */
export class Follower implements Following, Heads, LastLocations {
  /** Deletes old positions. */
  readonly keeping: Keeping;
  readonly #deps: FollowerDeps;
  readonly #memory: Memory;
  readonly #lag: Lag;
  readonly #loading: Loading;
  readonly #commits: Commits;
  readonly #refolding: Refolding;
  readonly #lateBefore: LateBefore;
  readonly #unsubscribe: () => void;
  #unfollowed: Promise<void> | undefined;
  #isStopping = false;

  constructor(deps: FollowerDeps) {
    const { store, engine, bus, clock, log } = deps;
    this.#deps = deps;
    this.#lag = new Lag(deps.mostLagBytes);
    this.#memory = new Memory((device) => this.#isBusy(device));
    this.#commits = new Commits({
      ...{ store: store.follow, clock, log },
      committed: (done) => this.#committed(done),
      followed: (place) => store.positions.followed(place),
    });
    this.#loading = new Loading({
      ...{ store: store.follow, log },
      prepare: (accounts) => engine.prepare(accounts),
      register: (device) => this.#registered(device),
      read: (device, from) =>
        store.positions.read(device, { from, to: Number.MAX_SAFE_INTEGER, limit: mostUnreadRecords }),
      loaded: (device, isReady) => this.#loaded(device, isReady),
    });
    this.#refolding = new Refolding({
      ...{ clock, log },
      registered: (device) => this.#registered(device),
      prepare: (device) => this.#prepare(device),
      readsOf: (device, registered) => readsOf(deps, device, registered),
      gone: (device) => this.#gone(device),
      over: (device, outcome) => this.#refolded(device, outcome),
    });
    this.#lateBefore = new LateBefore({
      ...{ store: store.follow, log },
      load: (key) => this.#loading.add(this.#memory.of(key)),
      behind: () => this.#refolding.behind,
    });
    this.keeping = new Keeping({
      ...{ follow: store.follow, positions: store.positions },
      device: (key) => this.#memory.of(key),
      loaded: (key) => this.#current(key),
      changed: (device) => this.#changed(device),
      write: (device) => this.#commits.write([device]),
    });
    this.#unsubscribe = bus.subscribe((event) => {
      const device = event.type === "deviceChanged" ? this.#memory.get(event.key) : undefined;
      if (device !== undefined) device.device = undefined;
    });
  }

  /** Finds what was appended and not followed before the start. Resolves when that is known; it is folded by and by. */
  start(): Promise<void> {
    this.#unfollowed ??= this.#findUnfollowed();
    return this.#unfollowed;
  }

  async #findUnfollowed(): Promise<void> {
    const { positions } = this.#deps.store;
    const last = await positions.append([]);
    for await (const { place, spans } of positions.unfollowed("all")) {
      this.#commits.reached(place);
      for (const { device, from, to } of spans) this.mayBeAppended(device, { from, to });
    }
    // From now on everything up to there is followed, or among what is not committed.
    this.#commits.reached(last);
    if (!this.#isStopping) this.#lateBefore.begin();
  }

  mayBeAppended(key: DeviceKey, { from, to }: { readonly from: number; readonly to: number }): void {
    const device = this.#memory.of(key);
    const { unread } = device;
    device.unread = { from: Math.min(from, unread?.from ?? from), to: Math.max(to, unread?.to ?? to) };
    this.#changed(device);
    this.#loading.add(device);
  }

  get lagBytes(): number {
    return this.#lag.bytes;
  }

  get isFull(): boolean {
    return this.#lag.isFull;
  }

  /** Devices with late records that wait for their turn. */
  get behind(): number {
    return this.#refolding.behind;
  }

  /** For how long the first of them has waited, seconds. */
  get lateSeconds(): number {
    return this.#refolding.lateMs / 1000;
  }

  /** Devices with something that is not committed. */
  get uncommitted(): number {
    return this.#commits.size;
  }

  get inMemory(): number {
    return this.#memory.size;
  }

  onRoom(listener: () => void): void {
    this.#lag.onRoom(listener);
  }

  heard(device: DeviceKey, now: number): void {
    this.#deps.engine.heard(device, now);
  }

  appended(batch: readonly AppendedRecords[], place: number): void {
    const { bus } = this.#deps;
    this.#commits.reached(place);
    const isPrepared = arePrepared(this.#deps, batch);
    for (const { device: registered, records } of batch) {
      const device = this.#memory.of(registered.key);
      device.device = registered;
      this.#changed(device);
      if (isPrepared && device.fold !== undefined && device.waiting.length === 0 && !this.#loading.has(device))
        this.#take(device, device.fold, registered, records);
      else {
        device.wait(records, mostWaitingBytes);
        this.#lag.set(device, device.waitingBytes);
        this.#loading.add(device);
      }
    }
    bus.publish({ type: "committed", devices: batch.map(({ device }) => ({ device, plan: {} })) });
  }

  #changed(device: FollowedDevice, soon = false): void {
    device.version++;
    this.#commits.changed(device, soon);
  }

  #loaded(device: FollowedDevice, isReady: boolean): void {
    const { fold, waiting, unread } = device;
    if (fold === undefined) return;
    device.waiting = [];
    device.waitingBytes = 0;
    device.unread = undefined;
    this.#lag.set(device, 0);
    if (unread !== undefined) fold.mark(unread.from, unread.to);
    if (waiting.length > 0 || unread !== undefined) this.#changed(device);
    if (waiting.length > 0 && device.device !== undefined) {
      this.#take(device, fold, device.device, waiting);
      // A review sees what no rule could look at.
      if (!isReady) for (const { time } of waiting) fold.mark(time, time);
      this.#deps.bus.publish({ type: "committed", devices: [{ device: device.device, plan: {} }] });
    } else for (const { time } of waiting) fold.mark(time, time);
    if (fold.isLate) this.#refolding.late(device);
    this.#memory.weigh(device);
  }

  #take(device: FollowedDevice, fold: DeviceFold, registered: WatchedDevice, records: readonly FreshRecord[]): void {
    const before = fold.lateRecords;
    let isJudged = true;
    const unwatched = () => {
      isJudged = false;
    };
    try {
      for (const outcome of fold.take(records, watchFor(this.#deps, registered, unwatched)))
        this.#found(device, outcome);
    } catch (error) {
      // A defect costs its device a turn of its own, and no other device anything.
      this.#deps.log.error({ error, device: registered.id }, "positions of a device can't be followed as they come");
      isJudged = false;
    }
    // Its rules see them in a review.
    if (!isJudged) for (const { time } of records) fold.mark(time, time);
    // Reports by day read what the store has.
    if (fold.days.length > 0) this.#changed(device, true);
    if (fold.lateRecords > before || fold.isRefolding)
      this.#lag.set(device, this.#lag.of(device) + records.reduce((sum, record) => sum + bytesOfRecord(record), 0));
    if (fold.isLate && !fold.isRefolding) this.#refolding.late(device);
    // What came late stands in no head yet, and the device was heard of all the same.
    const heardAt = records.reduce((last, { receivedAt }) => Math.max(last, receivedAt), 0);
    this.#tellEngine(registered, fold, 0, heardAt);
    this.#memory.weigh(device);
  }

  #found(device: FollowedDevice, outcome: AlertOutcome): void {
    device.found(outcome);
    const { alerts, notices, ended } = outcome;
    this.#changed(device, alerts.length > 0 || notices.length > 0 || ended.length > 0);
  }

  /** What fails here costs timers only. */
  #tellEngine(device: WatchedDevice, fold: DeviceFold, notices: number, heardAt?: number): void {
    try {
      if (heardAt !== undefined) this.#deps.engine.heard(device.key, heardAt);
      this.#deps.engine.followed(device, fold.standing, notices);
    } catch (error) {
      this.#deps.log.error({ error, device: device.id }, "timers of a device's alert rules could not be set");
    }
  }

  #committed(done: Parameters<ConstructorParameters<typeof Commits>[0]["committed"]>[0]): void {
    const told = [];
    let notices = 0;
    for (const { device, commit } of done) {
      const { alerts = [], ended = [] } = commit;
      const own = commit.notices?.length ?? 0;
      notices += own;
      // It may have been changed since.
      const { known } = device;
      if (known === undefined) continue;
      if (own > 0 && device.fold !== undefined) this.#tellEngine(known, device.fold, own);
      if (alerts.length > 0 || ended.length > 0) told.push({ device: known, plan: { alerts, ended } });
    }
    if (told.length > 0) this.#deps.bus.publish({ type: "committed", devices: told });
    if (notices > 0) this.#deps.bus.publish({ type: "noticesQueued" });
  }

  /** Time may have made something true for these devices. */
  due(devices: readonly WatchedDevice[]): void {
    for (const registered of devices) {
      const device = this.#memory.of(registered.key);
      device.device = registered;
      if (device.isCurrent && device.fold !== undefined) this.#tick(device, device.fold, registered);
      else if (device.refolding === undefined)
        this.#loading.wait(device).then(
          () => device.fold && !device.fold.isRefolding && this.#tick(device, device.fold, registered),
          () => undefined,
        );
    }
  }

  #tick(device: FollowedDevice, fold: DeviceFold, registered: WatchedDevice): void {
    const outcome = fold.tick(watchFor(this.#deps, registered));
    if (outcome === undefined) return;
    this.#found(device, outcome);
    this.#changed(device);
    if (fold.isLate) this.#refolding.late(device);
    this.#tellEngine(registered, fold, 0);
  }

  async #prepare(device: FollowedDevice): Promise<void> {
    if (device.device !== undefined) await this.#deps.engine.prepare([device.device.accountKey]);
    await this.#storeDays(device);
  }

  async #registered(device: FollowedDevice): Promise<WatchedDevice | undefined> {
    if (device.device !== undefined) return device.device;
    const found = await this.#deps.store.devices.findByKey(device.key);
    device.device = found && watchedOf(found);
    if (device.device !== undefined) await this.#deps.engine.prepare([device.device.accountKey]);
    return device.device;
  }

  #refolded(device: FollowedDevice, outcome: AlertOutcome | undefined): void {
    const { fold } = device;
    if (fold === undefined) return;
    if (outcome !== undefined) this.#found(device, outcome);
    this.#changed(device, true);
    this.#lag.set(device, 0);
    const meanwhile = fold.endRefold();
    if (device.device === undefined) for (const { time } of meanwhile) fold.mark(time, time);
    else {
      if (meanwhile.length > 0) this.#take(device, fold, device.device, meanwhile);
      else this.#tellEngine(device.device, fold, 0);
      this.#deps.bus.publish({ type: "committed", devices: [{ device: device.device, plan: {} }] });
    }
    this.#memory.weigh(device);
  }

  #gone(device: FollowedDevice): void {
    this.#lag.set(device, 0);
    this.#commits.drop(device);
    this.#memory.drop(device);
  }

  #isBusy(device: FollowedDevice): boolean {
    return (
      device.holds > 0 ||
      this.#commits.has(device) ||
      this.#loading.has(device) ||
      this.#refolding.has(device) ||
      device.refolding !== undefined ||
      device.waiting.length > 0
    );
  }

  /** The device, with everything that came in its head. */
  #current(key: DeviceKey): FollowedDevice | Promise<FollowedDevice> {
    const device = this.#memory.of(key);
    return device.isCurrent ? device : this.#made(device);
  }

  async #made(device: FollowedDevice): Promise<FollowedDevice> {
    while (!device.isCurrent) {
      if (this.#isStopping) throw new StoreUnavailable("the service stops");
      if (device.refolding !== undefined) await device.refolding;
      else await this.#loading.wait(device);
    }
    return device;
  }

  head(key: DeviceKey): DeviceHead | undefined | Promise<DeviceHead | undefined> {
    const device = this.#memory.of(key);
    const { fold, isRead } = device;
    // While late records are folded, their span is in the head: whoever reads folds them, too.
    return isRead && fold?.days.length === 0 ? fold.head : this.#headOf(device, isRead);
  }

  async #headOf(device: FollowedDevice, isRead: boolean): Promise<DeviceHead | undefined> {
    if (!isRead) await this.#loading.wait(device);
    await this.#storeDays(device);
    return device.fold?.head;
  }

  /** Commits a device until its ended days are in the store: meanwhile another one may end. */
  async #storeDays(device: FollowedDevice): Promise<void> {
    while (device.fold !== undefined && device.fold.days.length > 0) {
      if (!device.isRead) await this.#loading.wait(device);
      this.#changed(device);
      await this.#commits.write([device]);
    }
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

  /** How devices stand, in the order asked; undefined: it never reported. */
  standings(keys: readonly DeviceKey[]): Promise<readonly (Standing | undefined)[]> {
    return Promise.all(
      keys.map(async (key) => {
        const head = await this.head(key);
        return head?.newest === undefined ? undefined : standingOf(head);
      }),
    );
  }

  /** Commits what is not committed. While the store is down it gives up: what was not followed is found at the next start. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#unsubscribe();
    await this.#unfollowed?.catch(() => undefined);
    await this.#lateBefore.stop();
    await this.#refolding.stop();
    await this.#loading.stop();
    await this.#commits.stop();
  }
}
