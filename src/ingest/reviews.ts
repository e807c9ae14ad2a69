import type { DeviceKey } from "../model/device.ts";
import type { DeviceState, RecordPlace } from "../model/location.ts";
import type { AlertEngine, Review, ReviewStanding, ToldAlert, WatchedDevice } from "../ports/alert-engine.ts";
import type { AlertKey, AlertStore } from "../ports/alert-store.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { LocationStore } from "../ports/store.ts";
import type { States } from "./states.ts";

/** Records of a history that are read at a time. */
const recordsAtOnce = 500;
/** Alerts that are read at a time. */
const alertsAtOnce = 500;
/** How often a review reads on because its device reported meanwhile, before another device has its turn. */
const mostTries = 20;

/** What reviews work with. */
export interface ReviewDeps {
  readonly locations: Pick<LocationStore, "commit" | "context">;
  readonly alerts: Pick<AlertStore, "list">;
  readonly states: States;
  readonly engine: AlertEngine;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
}

/** The result of a try: the review is done · it found more than one commit holds · the device has reported meanwhile · the review does not stand any more, see `ReviewStanding`. */
type Tried = "done" | "more" | "reported" | Exclude<ReviewStanding, "stands">;

/**
 * Has the rules of devices see late records in their place: one device at a time, beside commits, and for half of the time at most. What a review comes to is committed for the state of the device
 * that it was made of; a device that reports at the same moment may win, and the review reads on.
 */
export class Reviews {
  readonly #deps: ReviewDeps;
  readonly #waiting = new Map<DeviceKey, WatchedDevice>();
  #running: Promise<void> | undefined;
  #stopping = false;
  /** Ends a rest. */
  #wake: (() => void) | undefined;

  constructor(deps: ReviewDeps) {
    this.#deps = deps;
  }

  /** A review is under way. */
  get busy(): boolean {
    return this.#running !== undefined;
  }

  /** Late records of these devices wait to be seen. */
  due(devices: readonly WatchedDevice[]): void {
    if (this.#stopping) return;
    for (const device of devices) this.#waiting.set(device.key, device);
    this.#running ??= this.#run();
  }

  /** Begins no other review; the one under way ends with its next piece. Devices keep their marks. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#waiting.clear();
    this.#wake?.();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (const device of this.#waiting.values()) {
      this.#waiting.delete(device.key);
      const began = this.#deps.clock.monotonic();
      try {
        await this.#review(device);
      } catch (error) {
        // The engine tells of the device again.
        this.#deps.log.warn({ error, device: device.id }, "late records could not be shown to a device's alert rules");
      }
      if (this.#stopping) break;
      await this.#rest(this.#deps.clock.monotonic() - began);
    }
    this.#running = undefined;
  }

  async #review(device: WatchedDevice): Promise<void> {
    const { engine } = this.#deps;
    let reading: Reading | undefined;
    for (let tries = 0; tries < mostTries && !this.#stopping; ) {
      const loading = engine.prepare([device.accountKey]);
      if (loading !== undefined) await loading;
      const state = await this.#stateOf(device.key);
      if (state === undefined) return;
      if (reading === undefined) {
        const review = engine.review(device, state);
        if (review === undefined) return;
        reading = { review, place: review.after, begun: false, ended: false };
      }
      const tried = await this.#try(device, reading);
      // After more late records, the engine names the device again when they rest. So a device that never stops sending late records holds up nobody.
      if (tried === "done" || tried === "late") return;
      if (tried === "anew") break;
      // The review goes on commit by commit, however many it takes.
      if (tried === "more") reading = undefined;
      else tries++;
    }
    // Its next turn comes behind the others.
    if (!this.#stopping) this.#waiting.set(device.key, device);
  }

  async #stateOf(device: DeviceKey): Promise<DeviceState | undefined> {
    const { states } = this.#deps;
    return states.get(device) ?? (await states.load([device])).get(device);
  }

  async #try(device: WatchedDevice, reading: Reading): Promise<Tried> {
    const { clock } = this.#deps;
    let version: number | undefined;
    for (;;) {
      const state = await this.#stateOf(device.key);
      if (state === undefined) return "done";
      const standing = reading.review.standing(state);
      if (standing !== "stands") return standing;
      version = state.version;
      if (reading.ended) break;
      const began = clock.monotonic();
      const more = await this.#read(device.key, reading);
      if (this.#stopping) return "done";
      if (!more) break;
      await this.#rest(clock.monotonic() - began);
    }
    const told = await this.#told(device.key, reading.review.toldFrom);
    const loading = this.#deps.engine.prepare([device.accountKey]);
    if (loading !== undefined) await loading;
    const state = await this.#stateOf(device.key);
    if (state === undefined) return "done";
    // What was read is as of that version, or a newer one. Where the fold has met what is kept, it makes no difference what came at the end.
    return state.version === version || reading.ended ? this.#commit(device, reading, state, told) : "reported";
  }

  /** Reads on. False: that was all there is. */
  async #read(device: DeviceKey, reading: Reading): Promise<boolean> {
    const { locations, clock } = this.#deps;
    const { review, place, begun } = reading;
    const context = await locations.context(device, place, recordsAtOnce, begun ? "without before" : undefined);
    if (!begun) review.begin(context.before);
    reading.begun = true;
    reading.place = context.from.at(-1) ?? place;
    reading.ended = !review.take(context.from, clock.now());
    return context.more && !reading.ended;
  }

  async #told(device: DeviceKey, from: number): Promise<readonly ToldAlert[]> {
    const told: ToldAlert[] = [];
    const range = { from, to: Number.MAX_SAFE_INTEGER, limit: alertsAtOnce };
    for (let after: AlertKey | undefined; ; ) {
      const some = await this.#deps.alerts.list(device, { ...range, ...(after && { after }) });
      told.push(...some);
      const last = some.at(-1);
      if (last === undefined || some.length < alertsAtOnce) return told;
      after = { time: last.time, key: last.key };
    }
  }

  async #commit(
    device: WatchedDevice,
    { review }: Reading,
    state: DeviceState,
    told: readonly ToldAlert[],
  ): Promise<Tried> {
    const { states, engine, bus, locations, clock } = this.#deps;
    const outcome = review.outcome(state, told, clock.now());
    if (outcome === undefined) return review.standing(state) === "late" ? "late" : "anew";
    const { rules, alerts, notices, ended = [], isWhole } = outcome;
    const { rules: _before, ...rest } = state;
    const after = { ...rest, version: state.version + 1, ...(rules !== undefined && { rules }) };
    const found = { alerts, notices, ...(ended.length > 0 && { ended }) };
    const commit = { device: device.key, records: [], patches: [], state: after, ...found };
    const tell = () => {
      bus.publish({ type: "committed", devices: [{ device, plan: commit }] });
      if (notices.length > 0) bus.publish({ type: "noticesQueued" });
    };
    const conflict = await locations.commit({ devices: [commit], refused: [] }).catch((error: unknown) => {
      // It may be on disk nevertheless.
      states.forget(device.key);
      tell();
      throw error;
    });
    if (conflict !== undefined) {
      states.forget(device.key);
      return "reported";
    }
    states.committed(device.key, after);
    engine.committed(device, after, notices.length);
    tell();
    return isWhole ? "done" : "more";
  }

  async #rest(ms: number): Promise<void> {
    if (this.#stopping || ms <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = setTimeout(resolve, ms);
    await promise;
    clearTimeout(timer);
    this.#wake = undefined;
  }
}

/** A review and how far its history was read. */
interface Reading {
  readonly review: Review;
  place: RecordPlace;
  begun: boolean;
  /** No more is needed. */
  ended: boolean;
}
