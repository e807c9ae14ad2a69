import type { DeviceKey } from "../model/device.ts";
import type { DeviceHead } from "../model/follow.ts";
import type { AlertOutcome, WatchedDevice } from "../ports/alert-engine.ts";
import type { AppendedRecords, FreshRecord } from "../ports/follow.ts";
import type { Unfollowed } from "../ports/positions.ts";
import { bucketOf } from "../ports/processes.ts";
import { StoreUnavailable } from "../ports/store.ts";
import { Commits } from "./commits.ts";
import type { FollowerDeps } from "./deps.ts";
import type { DeviceFold } from "./device-fold.ts";
import { bytesOfRecords, type FollowedDevice } from "./followed-device.ts";
import { isPrepared, watchedOf, watchFor } from "./guarded-watch.ts";
import { Lag } from "./lag.ts";
import { Loading } from "./loading.ts";
import { Memory } from "./memory.ts";
import { readsOf } from "./reads.ts";
import { Refolding } from "./refolding.ts";
import { Rounds } from "./rounds.ts";

/** Memory of records of one device that wait, bytes. What is more is read from the store afterwards. */
const mostWaitingBytes = 8 * 1024 * 1024;

/** What a late record counts as. It is on the disk and not in memory until its turn. */
const lateBytes = 25;

/** Most records of one device that are folded in a turn: with a hundred rules they take some ms. */
const mostTurnRecords = 100;

/** The longest time that a question for a last location waits for the end of a backlog, ms. */
const backlogMs = 1000;

/**
 * How long records that wait are folded before another process takes over, and at a stop, ms. The next follower finds
 * the rest. After 5 s other processes take this one for dead.
 */
const leaveMs = 1000;
const stopMs = 3000;

/** Most records of one device that are read back and followed at a time. */
const mostUnreadRecords = 1000;

/**
 * The devices that this process follows. Newer records are folded in rounds, or as soon as somebody asks for their
 * device; late ones in their places, when it is their device's turn. Everything here can be made again from what is
 * stored. What is asked of a device rejects where another process comes to follow it.
 */
export class OwnDevices {
  readonly lag: Lag;
  readonly refolding: Refolding;
  readonly commits: Commits;
  readonly memory: Memory;
  readonly #deps: FollowerDeps;
  readonly #loading: Loading;
  readonly #rounds: Rounds;
  #isStopping = false;

  /** `known`: resolves when it is known what the shares have pending; undefined: it is. */
  constructor(deps: FollowerDeps, known: () => Promise<void> | undefined) {
    const { store, engine, clock, log } = deps;
    this.#deps = deps;
    this.lag = new Lag(deps.mostLagBytes);
    this.memory = new Memory((device) => this.#isBusy(device));
    this.commits = new Commits({
      ...{ store: store.follow, clock, log },
      committed: (done) => this.#committed(done),
      followed: (place) => store.positions.followed(place),
    });
    this.#loading = new Loading({
      ...{ store: store.follow, log },
      heads: async (devices) => {
        // What comes now is newer than what is pending, and would be judged before it.
        await known();
        return store.follow.heads(devices.map(({ key }) => key));
      },
      prepare: (accounts) => engine.prepare(accounts),
      register: (device) => this.#registered(device),
      read: (spans) => store.positions.readEach(spans, mostUnreadRecords),
      watches: (device) => engine.watches(device),
      loaded: (device, isReady) => this.#loaded(device, isReady),
    });
    this.#rounds = new Rounds({
      clock,
      fold: (device) => this.#fold(device, mostTurnRecords) && device.waiting.length > 0 && !device.left,
      fullness: () => this.lag.fullness,
    });
    this.refolding = new Refolding({
      ...{ clock, log },
      registered: (device) => this.#registered(device),
      prepare: (device) => this.#prepare(device),
      readsOf: (device, registered) => readsOf(deps, device, registered, (part) => this.#commitPart(device, part)),
      gone: (device) => this.#forget([device]),
      over: (device, outcome, isDone) => this.#refolded(device, outcome, isDone),
    });
  }

  /** A device was changed: how it is registered must be asked again. */
  deviceChanged(key: DeviceKey): void {
    const device = this.memory.get(key);
    if (device !== undefined) device.device = undefined;
  }

  /** Reads the head of a device: what is late in it has its turn then. */
  load(key: DeviceKey): void {
    this.#loading.add(this.memory.of(key));
  }

  /** This was appended, and nobody here knows of it. */
  take({ place, spans }: Unfollowed): void {
    this.commits.reached(place);
    for (const span of spans) this.mayBeAppended(span.device, span);
  }

  mayBeAppended(key: DeviceKey, span: { readonly from: number; readonly to: number }): void {
    const device = this.memory.of(key);
    device.addUnread(span);
    this.changed(device);
    this.#loading.add(device);
  }

  appended(batch: readonly AppendedRecords[], place: number): void {
    for (const { device: registered, records } of batch) {
      const device = this.memory.of(registered.key);
      device.device = registered;
      this.changed(device);
      device.wait(records, mostWaitingBytes, place);
      this.lag.weigh(device);
      // What comes during a refold is known to it.
      if (device.fold?.isRefolding === true) this.#fold(device);
      else if (device.isLoaded && !this.#loading.has(device)) this.#rounds.add(device);
      else this.#loading.add(device);
    }
  }

  /** Folds up to `most` of the records that wait of a device. False: the device must be read first. */
  #fold(device: FollowedDevice, most = Number.POSITIVE_INFINITY): boolean {
    const { fold, known: registered, isLoaded } = device;
    if (device.waiting.length === 0 || device.left) return true;
    const isReady = fold !== undefined && isLoaded && registered !== undefined && !this.#loading.has(device);
    if (!isReady || !isPrepared(this.#deps, registered)) {
      this.#loading.add(device);
      return false;
    }
    this.#take(device, fold, registered, device.takeWaiting(most));
    return true;
  }

  changed(device: FollowedDevice, soon = false): void {
    if (device.left) return;
    device.version++;
    this.commits.changed(device, soon);
  }

  #loaded(device: FollowedDevice, isReady: boolean): void {
    const { fold } = device;
    if (fold === undefined || device.left) return;
    const waiting = device.takeWaiting(Number.POSITIVE_INFINITY);
    if (waiting.length > 0) this.changed(device);
    if (waiting.length > 0 && device.device !== undefined) {
      const isJudged = isReady && isPrepared(this.#deps, device.device);
      this.#take(device, fold, device.device, waiting);
      // A review sees what no rule could look at.
      if (!isJudged) for (const { time } of waiting) fold.mark(time, time);
      this.#deps.bus.publish({ type: "committed", devices: [{ device: device.device, plan: {} }] });
    } else for (const { time } of waiting) fold.mark(time, time);
    // Nobody knows by which rules the rest would be judged.
    if (device.device === undefined && device.isCatchingUp) device.markUnread();
    if (fold.isLate) this.refolding.late(device);
    this.lag.weigh(device);
    this.memory.weigh(device);
  }

  #take(device: FollowedDevice, fold: DeviceFold, registered: WatchedDevice, records: readonly FreshRecord[]): void {
    device.version++;
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
    if (fold.days.length > 0) this.changed(device, true);
    device.behindBytes += fold.isRefolding ? bytesOfRecords(records) : (fold.lateRecords - before) * lateBytes;
    this.lag.weigh(device);
    if (fold.isLate && !fold.isRefolding) this.refolding.late(device);
    // What came late stands in no head yet, and the device was heard of all the same.
    const heardAt = records.reduce((last, { receivedAt }) => Math.max(last, receivedAt), 0);
    this.#tellEngine(registered, fold, 0, heardAt);
    this.memory.weigh(device);
  }

  #found(device: FollowedDevice, outcome: AlertOutcome): void {
    device.found(outcome);
    const { alerts, notices, ended } = outcome;
    this.changed(device, alerts.length > 0 || notices.length > 0 || ended.length > 0);
  }

  /** Commits what a review has found so far. Whether that was possible. */
  async #commitPart(device: FollowedDevice, part: AlertOutcome): Promise<boolean> {
    this.#found(device, part);
    await this.commits.write([device]);
    return !device.left && device.alerts.length + device.notices.length + device.ended.length === 0;
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

  /** Time may have made something true for this device. */
  due(registered: WatchedDevice): void {
    const device = this.memory.of(registered.key);
    device.device = registered;
    this.#fold(device);
    // Behind what is unread, time has not passed for it.
    if (device.isCurrent && device.isRead && device.fold !== undefined) this.#tick(device, device.fold, registered);
    else if (device.refolding === undefined)
      this.#loading.wait(device).then(
        () => device.fold && device.isRead && !device.fold.isRefolding && this.#tick(device, device.fold, registered),
        () => undefined,
      );
  }

  #tick(device: FollowedDevice, fold: DeviceFold, registered: WatchedDevice): void {
    const outcome = fold.tick(watchFor(this.#deps, registered));
    if (outcome === undefined) return;
    this.#found(device, outcome);
    this.changed(device);
    if (fold.isLate) this.refolding.late(device);
    this.#tellEngine(registered, fold, 0);
  }

  async #prepare(device: FollowedDevice): Promise<void> {
    if (device.device !== undefined) await this.#deps.engine.prepare([device.device.accountKey]);
    await this.#storeDays(device);
  }

  async #registered(device: FollowedDevice): Promise<WatchedDevice | undefined> {
    if (device.device !== undefined) return device.device;
    const found = await this.#deps.store.devices.findByKey(device.key);
    // It may be changed again while its rules are read.
    const registered = found && watchedOf(found);
    device.device = registered;
    if (registered !== undefined) await this.#deps.engine.prepare([registered.accountKey]);
    return registered;
  }

  #refolded(device: FollowedDevice, outcome: AlertOutcome | undefined, isDone: boolean): void {
    const { fold } = device;
    if (fold === undefined || device.left) return;
    if (outcome !== undefined) this.#found(device, outcome);
    this.changed(device, true);
    const meanwhile = fold.endRefold();
    device.behindBytes = isDone ? 0 : device.behindBytes - bytesOfRecords(meanwhile);
    if (device.device === undefined) for (const { time } of meanwhile) fold.mark(time, time);
    else {
      if (meanwhile.length > 0) this.#take(device, fold, device.device, meanwhile);
      else this.#tellEngine(device.device, fold, 0);
      this.#deps.bus.publish({ type: "committed", devices: [{ device: device.device, plan: {} }] });
    }
    this.lag.weigh(device);
    // What came while the turn went on may stand in no queue: its load ended meanwhile.
    if (device.unread !== undefined || device.waiting.length > 0) this.#loading.add(device);
    this.memory.weigh(device);
  }

  #isBusy(device: FollowedDevice): boolean {
    return (
      device.holds > 0 ||
      this.commits.has(device) ||
      this.#loading.has(device) ||
      this.refolding.has(device) ||
      device.refolding !== undefined ||
      device.unread !== undefined ||
      device.waiting.length > 0
    );
  }

  /** The device, with everything that came in its head; of a long backlog, with what is read in some time. */
  current(key: DeviceKey): FollowedDevice | Promise<FollowedDevice> {
    const device = this.memory.of(key);
    this.#fold(device);
    return device.isCurrent && device.isRead ? device : this.#made(device);
  }

  async #made(device: FollowedDevice): Promise<FollowedDevice> {
    const { clock } = this.#deps;
    const until = clock.monotonic() + backlogMs;
    while (!device.isCurrent || (!device.isRead && clock.monotonic() < until)) {
      if (this.#isStopping) throw new StoreUnavailable("the service stops");
      if (device.refolding !== undefined) await device.refolding;
      else if (!this.#fold(device) || !device.isRead) await this.#loading.wait(device);
    }
    return device;
  }

  head(key: DeviceKey): DeviceHead | undefined | Promise<DeviceHead | undefined> {
    const device = this.memory.of(key);
    this.#fold(device);
    const { fold, isRead } = device;
    // While late records are folded, their span is in the head: whoever reads folds them, too.
    return isRead && fold?.days.length === 0 ? fold.head : this.#headOf(device, isRead);
  }

  async #headOf(device: FollowedDevice, isRead: boolean): Promise<DeviceHead | undefined> {
    if (!isRead) await this.#loading.wait(device);
    await this.#storeDays(device);
    return device.head;
  }

  /** Folds what waits of a device, and commits it until its ended days are in the store: meanwhile another may end. */
  async #storeDays(device: FollowedDevice): Promise<void> {
    for (this.#fold(device); device.fold !== undefined && device.fold.days.length > 0; this.#fold(device)) {
      if (!device.canCommit) await this.#loading.wait(device);
      // Nothing is committed here any more.
      if (device.left) throw new StoreUnavailable("another process follows the device now");
      this.changed(device);
      await this.commits.write([device]);
    }
  }

  /**
   * Another process comes to follow these shares: what is folded of them is committed, as far as that is possible, and
   * forgotten here.
   */
  async leave(buckets: readonly number[]): Promise<void> {
    const { log, store } = this.#deps;
    const own = () => [...this.memory.all()].filter(({ key }) => buckets.includes(bucketOf(key)));
    await this.#rounds.all(own(), leaveMs);
    await this.commits.writeAll(own()).catch((error: unknown) => {
      log.warn({ error }, "what follows from positions can't be stored before another process takes over");
    });
    const devices = own();
    // What is not committed stays in the store for the next one, and no longer counts here.
    const left = store.positions.left(buckets, !devices.some((device) => this.commits.has(device)));
    this.#forget(devices);
    await Promise.all([left, this.commits.written]);
  }

  /** These are gone, or another process follows them. */
  #forget(devices: readonly FollowedDevice[]): void {
    for (const device of devices) {
      device.left = true;
      device.takeWaiting(Number.POSITIVE_INFINITY);
      this.lag.weigh(device);
      this.#loading.drop(device);
      this.refolding.drop(device);
      this.memory.drop(device);
    }
    this.commits.drop(devices);
  }

  /**
   * Commits what is not committed. While the store is down it gives up: what was not followed is found at the next
   * start.
   */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.refolding.stop();
    await this.#loading.stop();
    await this.#rounds.all([...this.memory.all()], stopMs);
    this.#rounds.stop();
    await this.commits.stop();
  }
}
