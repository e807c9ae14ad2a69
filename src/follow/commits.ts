import type { Clock } from "../ports/clock.ts";
import type { FollowCommit, FollowStore } from "../ports/follow.ts";
import type { Log } from "../ports/log.ts";
import { StoreUnavailable } from "../ports/store.ts";
import type { FollowedDevice } from "./followed-device.ts";

/** What found something is committed so soon, ms; everything else after this time. */
const soonMs = 20;
const laterMs = 30_000;
/** Devices of one commit, and their bytes. */
const mostDevices = 500;
const mostBytes = 4 * 1024 * 1024;
/** Pauses after a failure, ms: of the store, and of one device alone, doubled each time. */
const storePauseMs = 1000;
const unreadPauseMs = 1000;
const devicePauseMs = 1000;
const longestPauseMs = 300_000;

/** What commits work with. */
export interface CommitDeps {
  readonly store: Pick<FollowStore, "commit">;
  readonly clock: Clock;
  readonly log: Log;
  /** These are committed. */
  readonly committed: (done: readonly { readonly device: FollowedDevice; readonly commit: FollowCommit }[]) => void;
  /** Everything up to that place is committed. */
  readonly followed: (place: number) => void;
}

interface Dirty {
  /** The first append that is not committed. */
  place: number;
  /** The first one since the commit under way was made. */
  next: number | undefined;
  since: number;
  /** When it may be tried again. */
  notBefore: number;
  pauseMs: number;
}

/**
 * Writes what follows from records: soon where rules found something, and otherwise for many devices together. One
 * commit is under way at a time.
 */
export class Commits {
  readonly #deps: CommitDeps;
  /** What is not committed, in the order of its first append. */
  readonly #dirty = new Map<FollowedDevice, Dirty>();
  readonly #soon = new Set<FollowedDevice>();
  #place = 0;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #running: Promise<void> | undefined;
  #writing: Promise<void> = Promise.resolve();
  #pausedUntil = 0;
  #isStopping = false;

  constructor(deps: CommitDeps) {
    this.#deps = deps;
  }

  /** Devices with something to commit. */
  get size(): number {
    return this.#dirty.size;
  }

  has(device: FollowedDevice): boolean {
    return this.#dirty.has(device);
  }

  /** Resolves when no commit is under way that was at the time of the question. */
  get written(): Promise<void> {
    return this.#writing;
  }

  /** An append is known. */
  reached(place: number): void {
    this.#place = Math.max(this.#place, place);
  }

  /** Something of a device changed. `soon`: it does not wait for others. */
  changed(device: FollowedDevice, soon = false): void {
    const dirty = this.#dirty.get(device);
    if (dirty !== undefined) dirty.next ??= this.#place;
    else {
      const since = this.#deps.clock.monotonic();
      this.#dirty.set(device, { place: this.#place, next: undefined, since, notBefore: 0, pauseMs: devicePauseMs });
    }
    if (soon) this.#soon.add(device);
    this.#lookIn(this.#soon.has(device) ? soonMs : laterMs);
  }

  /** These are gone, or another process follows them. */
  drop(devices: readonly FollowedDevice[]): void {
    for (const device of devices) {
      this.#soon.delete(device);
      this.#dirty.delete(device);
    }
    this.#tellFollowed();
  }

  #lookIn(ms: number): void {
    const now = this.#deps.clock.monotonic();
    const at = Math.max(now + ms, this.#pausedUntil);
    if (this.#running !== undefined || this.#isStopping || at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => this.#look(), at - now).unref();
  }

  #look(): void {
    clearTimeout(this.#timer);
    this.#timerAt = Number.POSITIVE_INFINITY;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      const due = this.#dueIn();
      if (due !== undefined) this.#lookIn(due);
    });
  }

  /** Until something is due, ms; undefined: nothing waits. */
  #dueIn(): number | undefined {
    const now = this.#deps.clock.monotonic();
    // Nothing of a device can be committed before it was read; that tells by `changed`, too.
    const possibleAt = (device: FollowedDevice) =>
      device.canCommit ? (this.#dirty.get(device)?.notBefore ?? 0) : now + unreadPauseMs;
    let first = Number.POSITIVE_INFINITY;
    for (const device of this.#soon) first = Math.min(first, possibleAt(device));
    for (const [device, { since }] of this.#dirty) {
      const possible = possibleAt(device);
      first = Math.min(first, Math.max(since + laterMs, possible));
      // Those behind it changed later.
      if (possible <= since + laterMs) break;
    }
    return first === Number.POSITIVE_INFINITY ? undefined : Math.max(first - now, soonMs);
  }

  async #run(): Promise<void> {
    for (;;) {
      const some = this.#take();
      if (some.length === 0 || !(await this.#try(some))) return;
    }
  }

  /** What is due now. */
  #take(): readonly FollowedDevice[] {
    const now = this.#deps.clock.monotonic();
    const some = new Set<FollowedDevice>();
    let bytes = 0;
    const add = (device: FollowedDevice): boolean => {
      const dirty = this.#dirty.get(device);
      if (dirty !== undefined && dirty.notBefore <= now && device.canCommit) {
        some.add(device);
        bytes += device.bytes;
      }
      return some.size < mostDevices && bytes < mostBytes;
    };
    for (const device of this.#soon) {
      // It is asked for again when it was read, and when its pause is over.
      const dirty = this.#dirty.get(device);
      if (dirty !== undefined && (!device.canCommit || dirty.notBefore > now)) continue;
      this.#soon.delete(device);
      if (!add(device)) return [...some];
    }
    for (const [device, { since }] of this.#dirty) {
      if (!this.#isStopping && since + laterMs > now) break;
      if (!some.has(device) && !add(device)) break;
    }
    return [...some];
  }

  /** Commits these now, after the commit that is under way. Rejects where the store fails. */
  write(devices: readonly FollowedDevice[]): Promise<void> {
    const writing = this.#writing.then(() => this.#write(devices));
    this.#writing = writing.catch(() => undefined);
    return writing;
  }

  /** Commits what is read of these. */
  async writeAll(devices: readonly FollowedDevice[]): Promise<void> {
    const some = devices.filter((device) => this.#dirty.has(device) && device.canCommit);
    for (let at = 0; at < some.length; at += mostDevices) await this.write(some.slice(at, at + mostDevices));
  }

  async #write(devices: readonly FollowedDevice[]): Promise<void> {
    const done = devices.flatMap((device) => {
      const { commit, version } = device;
      const dirty = this.#dirty.get(device);
      if (dirty === undefined) return [];
      if (commit === undefined) {
        this.#soon.add(device);
        return [];
      }
      dirty.next = undefined;
      // What is unread or waits would be lost over a kill if its place counted as followed.
      const { isRead, isLoaded, waitingFrom = dirty.place } = device;
      const behind = isRead ? undefined : isLoaded ? Math.max(waitingFrom, dirty.place) : dirty.place;
      return [{ device, commit, version, dirty, behind, isLoaded }];
    });
    await this.#deps.store.commit(done.map(({ commit }) => commit));
    for (const { device, commit, version, dirty, behind, isLoaded } of done) {
      device.committed(commit);
      if (this.#dirty.get(device) !== dirty) continue;
      this.#dirty.delete(device);
      if (behind === undefined && device.version === version) continue;
      const since = this.#deps.clock.monotonic();
      const place = behind ?? dirty.next ?? this.#place;
      const pauseMs = this.#isStopping ? Number.POSITIVE_INFINITY : isLoaded ? 0 : unreadPauseMs;
      const notBefore = behind === undefined ? 0 : since + pauseMs;
      this.#dirty.set(device, { place, next: undefined, since, notBefore, pauseMs: devicePauseMs });
    }
    this.#deps.committed(done);
    this.#tellFollowed();
  }

  #tellFollowed(): void {
    let first = this.#place + 1;
    for (const { place } of this.#dirty.values()) first = Math.min(first, place);
    this.#deps.followed(first - 1);
  }

  /** False: the store is down. */
  async #try(devices: readonly FollowedDevice[]): Promise<boolean> {
    try {
      await this.write(devices);
      return true;
    } catch (error) {
      if (error instanceof StoreUnavailable && error.trouble === "down") {
        for (const device of devices) this.#soon.add(device);
        this.#pausedUntil = this.#deps.clock.monotonic() + storePauseMs;
        this.#deps.log.warn(
          { error, devices: devices.length },
          "what follows from positions can't be stored; trying again",
        );
        return false;
      }
      const [only] = devices;
      if (devices.length === 1 && only !== undefined) {
        this.#rest(only, error);
        return true;
      }
      const half = devices.length >> 1;
      return (await this.#try(devices.slice(0, half))) && (await this.#try(devices.slice(half)));
    }
  }

  /** What is wrong with one device delays no other one. */
  #rest(device: FollowedDevice, error: unknown): void {
    const dirty = this.#dirty.get(device);
    this.#deps.log.error({ error, device: device.key }, "what follows from a device's positions can't be stored");
    if (dirty === undefined) return;
    this.#soon.add(device);
    dirty.notBefore = this.#deps.clock.monotonic() + dirty.pauseMs;
    dirty.pauseMs = Math.min(2 * dirty.pauseMs, longestPauseMs);
  }

  /** Commits everything, once. What fails is followed again after the next start. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    await this.#running;
    await this.#run();
  }
}
