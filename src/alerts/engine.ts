import type { DeviceKey } from "../model/device.ts";
import type { Standing } from "../model/standing.ts";
import type { AlertEngine, Review, ReviewStart, Watch, WatchedDevice } from "../ports/alert-engine.ts";
import type { AlertRuleStore } from "../ports/alert-store.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import type { Metrics } from "../ports/metrics.ts";
import { bucketCount, bucketOf, type Processes } from "../ports/processes.ts";
import type { DeviceStore } from "../ports/store.ts";
import type { LeftOut, NoticeRoom } from "./alert-writer.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import { dueOf } from "./due.ts";
import { NoticeRate } from "./notice-rate.ts";
import { Rebuild } from "./rebuild.ts";
import { DeviceReview } from "./review.ts";
import { type AccountRules, RuleBook, type RuleSources } from "./rule-book.ts";
import { StateTexts } from "./state-texts.ts";
import { Timers } from "./timers.ts";
import { DeviceWatch, type WatchTimers } from "./watch.ts";

const lookMs = 1000;
/**
 * Devices whose timers wait to be set by what they reported; of more, each is set at once, so that no more states are
 * held.
 */
const mostUnset = 10_000;
/** Timers that are set at a time, with room for other work between. */
const setAtOnce = 500;
/** A device for which a look changed nothing is looked at again not before that, ms. */
const againMs = 30_000;

/**
 * What was heard before the start without anything to store is forgotten. So many grace times after the start, a
 * tracker that only keeps its connection alive was heard again.
 */
const unheardGraces = 15;

/** What the engine works with. */
export interface AlertEngineDeps extends RuleSources {
  readonly alertRules: Pick<AlertRuleStore, "list" | "accounts">;
  readonly devices: Pick<DeviceStore, "list">;
  /** How devices stand now, in the order asked; undefined: one was never followed. */
  standings(devices: readonly DeviceKey[]): Promise<readonly (Standing | undefined)[]>;
  /** Time alone makes nothing true here for devices that another process follows. */
  readonly processes: Pick<Processes, "follows">;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: Metrics;
  /**
   * What fell due while the service was down waits for this time after the start, ms: trackers need time to come back.
   */
  readonly graceMs: number;
  /** Notices that the rules of one account may make in a minute. */
  readonly noticesPerMinute: number;
  /**
   * Something may have become true for these devices by time alone: each is to be given a `tick`, and what that finds
   * committed. One for which nothing comes of it is told again half a minute later.
   */
  onDue(devices: readonly WatchedDevice[]): void;
}

/** A moment by the clock that never goes back, and by the wall clock. */
interface Beginning {
  readonly at: number;
  readonly wall: number;
}

interface Followed {
  readonly device: WatchedDevice;
  readonly standing: Standing;
  readonly turn: number;
}

/** Rules over records, with their timers. */
export class RuleEngine implements AlertEngine {
  readonly #deps: AlertEngineDeps;
  readonly #book: RuleBook;
  readonly #texts = new StateTexts();
  readonly #timers: Timers;
  readonly #rebuild: Rebuild;
  readonly #watchTimers: WatchTimers = {
    heardAt: ({ key }, standing) => this.#heardAt(key, standing),
    silentUntil: ({ key }, standing) => {
      const { wall } = this.#begun(key);
      return this.#heardAt(key, standing) < wall ? wall + unheardGraces * this.#deps.graceMs : 0;
    },
    unchanged: (device, standing, now) => {
      const account = this.#book.of(device.accountKey);
      if (account !== undefined) this.#setTimer({ device, standing, turn: ++this.#turn }, account, now + againMs);
    },
  };
  /**
   * What was followed since the last look. Timers are set by it then: a device that reports often costs that once a
   * second, and not with each report.
   */
  #unset = new Map<DeviceKey, Followed>();
  /** Numbers the standings of devices, so that an older one never counts after a newer one. */
  #turn = 0;
  readonly #leftOut: (what: LeftOut) => void;
  readonly #rate: NoticeRate;
  readonly #room = ({ accountKey }: WatchedDevice): NoticeRoom => ({
    ...this.#rate.left(accountKey, this.#deps.clock.monotonic()),
    leftOut: this.#leftOut,
  });
  #unsubscribe: (() => void) | undefined;
  /** Since when this process judges each share of the devices. */
  readonly #beginnings: Beginning[] = Array.from({ length: bucketCount }, () => ({ at: 0, wall: 0 }));
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  constructor(deps: AlertEngineDeps) {
    this.#deps = deps;
    this.#rate = new NoticeRate(deps.noticesPerMinute);
    this.#book = new RuleBook(deps, deps.clock, deps.log);
    this.#timers = new Timers((devices) =>
      deps.onDue(devices.filter(({ key }) => deps.processes.follows(key) && this.#timePasses(this.#begun(key)))),
    );
    this.#rebuild = new Rebuild(deps, {
      prepare: async (accountKey) => {
        await this.#book.prepare([accountKey]);
        return this.#book.of(accountKey);
      },
      follows: (device) => deps.processes.follows(device),
      turn: () => ++this.#turn,
      set: (device, standing, turn, account) => this.#setTimer({ device, standing, turn }, account),
      keepOnly: (accountKey, devices) => this.#timers.keepOnly(accountKey, devices),
    });
    const { metrics } = deps;
    metrics.gauge("waybeam_alert_timers", "Devices for which time alone may raise an alert.", () => this.#timers.size);
    metrics.gauge(
      "waybeam_alert_rules_bytes",
      "Memory that rules, their groups and zones take, of the accounts that reported lately (an estimate).",
      () => this.#book.bytes,
    );
    metrics.gauge(
      "waybeam_alert_rules_broken",
      "Rules that can't be judged because a zone that they name is gone, of the accounts in memory.",
      () => this.#book.broken,
    );
    const leftOut = metrics.counter(
      "waybeam_alerts_left_out_total",
      "Alerts and notices that were found and not kept, because there were too many at one report, or too many notices of one account.",
      ["what"],
    );
    const [alerts, notices] = [leftOut({ what: "alerts" }), leftOut({ what: "notices" })];
    this.#leftOut = (what) => {
      alerts.add(what.alerts);
      notices.add(what.notices);
    };
    this.#unsubscribe = deps.bus.subscribe((event) => {
      // Who is missed may have told nothing of its last change.
      if (event.type === "processesChanged" && event.missed.length > 0) this.#book.changedAll();
      if (event.type === "rulesChanged" || event.type === "groupChanged") {
        this.#book.changed(event.accountKey);
        this.#rebuild.changed(event.accountKey);
      } else if (event.type === "deviceChanged") {
        this.#texts.forget(event.key);
        const byArrival = this.#book.of(event.accountKey)?.rules.some(({ clock }) => clock === "arrival");
        // One with a timer may be gone, or have another name now.
        if (byArrival !== false || this.#timers.has(event.key)) this.#rebuild.changed(event.accountKey);
      }
    });
  }

  /**
   * Timers run from now on; what fell due before waits a minute. They are made from the rules and states in the
   * background.
   */
  start(): void {
    this.#begin(this.#beginnings.keys());
    this.#rebuild.start();
    this.#timer = setInterval(() => this.#look(), lookMs).unref();
  }

  #begin(buckets: Iterable<number>): void {
    const { clock } = this.#deps;
    for (const bucket of buckets) this.#beginnings[bucket] = { at: clock.monotonic(), wall: clock.now() };
  }

  #begun(device: DeviceKey): Beginning {
    return this.#beginnings[bucketOf(device)] ?? { at: 0, wall: 0 };
  }

  sharesMoved(gained: readonly number[]): void {
    this.#begin(gained);
    this.#rebuild.everything();
  }

  /** Ends the timers; what is under way is over when this resolves. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    await this.#rebuild.stop();
    await this.#looking;
  }

  prepare(accountKeys: Iterable<number>): Promise<void> | undefined {
    return this.#book.prepare(accountKeys);
  }

  watches(device: WatchedDevice): boolean {
    const account = this.#book.sure(device.accountKey);
    return account === undefined || account.rulesOf(device.id).length > 0;
  }

  watch(device: WatchedDevice, standing: Standing, now: number): Watch | undefined {
    const account = this.#book.of(device.accountKey);
    const rules = account?.rulesOf(device.id);
    if (account === undefined || rules === undefined) return undefined;
    // Where no rule watches any more, there may be states that are to go.
    if (rules.length === 0 && standing.rules === undefined) return undefined;
    return new DeviceWatch({ ...this.#setup(device, account, rules), standing, now, timers: this.#watchTimers });
  }

  review(device: WatchedDevice, standing: Standing, start: ReviewStart, now: number): Review | undefined {
    const account = this.#book.of(device.accountKey);
    const rules = account?.rulesOf(device.id);
    if (account === undefined || rules === undefined || rules.length === 0) return undefined;
    return new DeviceReview({
      ...this.#setup(device, account, rules),
      standing,
      start,
      now,
      isCurrent: () => this.#book.sure(device.accountKey)?.rulesOf(device.id) === rules,
      timePasses: () => this.#timePasses(this.#begun(device.key)),
    });
  }

  #setup(device: WatchedDevice, { sight, wording }: AccountRules, rules: readonly CompiledRule[]) {
    return { device, rules, sight, wording, ids: this.#deps.ids, texts: this.#texts, room: this.#room };
  }

  followed(device: WatchedDevice, standing: Standing, notices: number): void {
    if (notices > 0) this.#rate.made(device.accountKey, notices, this.#deps.clock.monotonic());
    const account = this.#book.of(device.accountKey);
    if (account === undefined || (account.rulesOf(device.id).length === 0 && !this.#timers.has(device.key))) return;
    const followed = { device, standing, turn: ++this.#turn };
    if (this.#unset.size < mostUnset || this.#unset.has(device.key)) this.#unset.set(device.key, followed);
    else this.#setTimer(followed, account);
  }

  heard(device: DeviceKey, now: number): void {
    this.#timers.heard(device, now);
  }

  /** Shortly after the beginning, trackers need time to come back: time alone makes nothing true yet. */
  #timePasses({ at }: Beginning): boolean {
    return this.#deps.clock.monotonic() - at >= this.#deps.graceMs;
  }

  #heardAt(device: DeviceKey, { receivedAt = 0 }: Standing): number {
    return Math.max(this.#timers.heardAt(device), receivedAt);
  }

  /** `ifDue`: where it has just been looked at for what is due, the moment at which to look again. */
  #setTimer({ device, standing, turn }: Followed, account: AccountRules, ifDue?: number): void {
    const rules = account.rulesOf(device.id);
    const heardAt = this.#heardAt(device.key, standing);
    const now = this.#deps.clock.now();
    const { states } = this.#texts.read(device.key, standing.rules, rules);
    const due = dueOf(device, standing, rules, states, heardAt, now);
    const again = ifDue !== undefined && due.at <= now ? { ...due, at: ifDue } : due;
    this.#timers.set(device, again, turn, heardAt, now);
  }

  async #setTimers(): Promise<void> {
    const unset = this.#unset;
    this.#unset = new Map();
    let count = 0;
    for (const followed of unset.values()) {
      const { device, turn } = followed;
      const account = this.#book.of(device.accountKey);
      // One that was looked at meanwhile is set already, and waits.
      if (account !== undefined && !this.#timers.has(device.key, turn)) this.#setTimer(followed, account);
      if (++count % setAtOnce === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  async #setAndLook(): Promise<void> {
    await this.#setTimers();
    if (!this.#beginnings.some((beginning) => this.#timePasses(beginning))) return;
    await this.#timers.look(this.#deps.clock.now());
  }

  #look(): void {
    this.#looking ??= this.#setAndLook()
      .catch((error: unknown) => this.#deps.log.error({ error }, "timers of alert rules could not be looked at"))
      .finally(() => {
        this.#looking = undefined;
      });
  }
}
