import type { AlertStore, NoticeStore } from "../ports/alert-store.ts";
import type { Clock, ClockTrust } from "../ports/clock.ts";
import type { CommandStore } from "../ports/command-store.ts";
import type { Log } from "../ports/log.ts";
import type { MuteStore } from "../ports/mutes.ts";
import type { RefusedStore } from "../ports/refused-store.ts";
import type { PositionKeeper } from "../ports/retention.ts";
import type { ShareStore } from "../ports/shares.ts";
import type { SignInStore } from "../ports/sign-ins.ts";
import type { DeviceStore, UserStore } from "../ports/store.ts";
import { deleteOldPositions } from "./old-positions.ts";
import { utcDay } from "./tally.ts";

const dayMs = 86_400_000;

/** The longest pause between messages is a day; what is twice as old is of no use. */
const pausesMs = 2 * dayMs;

/** Rows of one step of deleting or folding: each step takes some milliseconds of the store. */
const stepRows = 500;
/** Users have a row for each day: some hundred at the first time. */
const stepUsers = 20;

/**
 * When to look for what is old: the time after the start, then from one look to the next; and the pause after each
 * step. Tests have shorter times.
 */
export interface RetentionTimes {
  readonly firstMs: number;
  readonly everyMs: number;
  readonly pauseMs: number;
}

/** First after some minutes: a start has enough to do, and a service that is often started again must look too. */
const usual: RetentionTimes = { firstMs: 300_000, everyMs: 3_600_000, pauseMs: 100 };

/** What retention needs of the service. */
export interface RetentionContext {
  readonly store: {
    readonly commands: Pick<CommandStore, "deleteEnded">;
    readonly users: Pick<UserStore, "foldUsage">;
    readonly alerts: Pick<AlertStore, "prune" | "closeOld">;
    readonly notices: Pick<NoticeStore, "prune" | "prunePauses">;
    readonly mutes: Pick<MuteStore, "prune">;
    readonly signIns: Pick<SignInStore, "prune">;
    readonly shares: Pick<ShareStore, "prune">;
    readonly refused: Pick<RefusedStore, "prune">;
    readonly devices: Pick<DeviceStore, "retained" | "daysOf">;
  };
  readonly clock: Clock;
  /** Nothing is deleted by a clock that may be fast. */
  readonly clockTrust: Pick<ClockTrust, "mayDelete">;
  readonly positionKeeper: Pick<PositionKeeper, "deleteBefore">;
  readonly log: Log;
  /**
   * Days that records are kept: commands and notices after their end, alerts after they were found, refused reports
   * after they came.
   */
  readonly settings: Readonly<Record<"commands" | "alerts" | "notices" | "refused", { readonly keepDays: number }>> & {
    /** Alerts that nobody closed are closed this many days after they were found. */
    readonly alerts: { readonly closeAfterDays: number };
  };
}

/**
 * Works in the background. Closes alerts that nobody closed. Deletes records of commands, alerts, notices and refused
 * reports some time after their end. Deletes positions that accounts and devices no longer keep. Adds up the counters
 * of days before yesterday.
 */
export class Retention {
  readonly #context: RetentionContext;
  readonly #times: RetentionTimes;
  /** UTC day of the last folding: there is nothing new before the next one. */
  #folded: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> | undefined;
  #held = false;
  #stopped = false;
  #wake: (() => void) | undefined;

  constructor(context: RetentionContext, times: RetentionTimes = usual) {
    this.#context = context;
    this.#times = times;
  }

  start(): void {
    this.#workIn(this.#times.firstMs);
  }

  /** Ends after the present step. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#wake?.();
    await this.#working;
  }

  #workIn(ms: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#working = this.#workOnAll().then(() => this.#workIn(this.#times.everyMs));
    }, ms);
    this.#timer.unref();
  }

  /** If one part fails, the other is done all the same. */
  async #workOnAll(): Promise<void> {
    const { log } = this.#context;
    for (const work of [() => this.#work(), () => this.#deletePositions()]) {
      if (this.#ends) return;
      try {
        await work();
      } catch (error) {
        log.warn({ error }, "old records could not be deleted; it is tried again");
      }
    }
  }

  async #work(): Promise<void> {
    const { clock, log, store, settings } = this.#context;
    const now = clock.now();
    const commands = await this.#deleteCommands(now - settings.commands.keepDays * dayMs);
    await this.#closeAlerts(now - settings.alerts.closeAfterDays * dayMs, now);
    const alerts = await this.#prune(store.alerts, now - settings.alerts.keepDays * dayMs);
    await this.#prune({ prune: (before, limit) => store.notices.prunePauses(before, limit) }, now - pausesMs);
    await this.#prune(store.mutes, now);
    await this.#prune(store.signIns, now);
    await this.#prune(store.shares, now);
    const notices = await this.#prune(store.notices, now - settings.notices.keepDays * dayMs);
    const refused = await this.#prune(store.refused, now - settings.refused.keepDays * dayMs);
    if (commands + alerts + notices + refused > 0)
      log.info({ commands, alerts, notices, refused }, "old records were deleted");
    if (this.#folded === utcDay(now)) return;
    await this.#foldUsage(utcDay(now - dayMs));
    if (!this.#ends) this.#folded = utcDay(now);
  }

  async #deletePositions(): Promise<void> {
    const { store, positionKeeper: keeper, clock, log } = this.#context;
    const pace = { ends: () => this.#ends, pause: () => this.#pause() };
    const positions = await deleteOldPositions({ devices: store.devices, keeper, clock, log }, pace);
    if (positions > 0) log.info({ positions }, "old positions were deleted");
  }

  /**
   * Whether it is not certain that what is old by our clock is old; asked again before each step, since the clock may
   * be set at any time.
   */
  #isHeld(): boolean {
    const held = !this.#context.clockTrust.mayDelete();
    if (held && !this.#held)
      this.#context.log.info({}, "nothing old is deleted until a device's report agrees with our own clock");
    this.#held = held;
    return held;
  }

  get #ends(): boolean {
    return this.#stopped || this.#isHeld();
  }

  async #deleteCommands(before: number): Promise<number> {
    let deleted = 0;
    for (let after: number | undefined = 0; after !== undefined && !this.#ends; await this.#pause()) {
      const step = await this.#context.store.commands.deleteEnded(before, after, stepRows);
      deleted += step.deleted;
      after = step.next;
    }
    return deleted;
  }

  async #closeAlerts(before: number, now: number): Promise<void> {
    const { alerts } = this.#context.store;
    for (let step = stepRows; step === stepRows && !this.#ends; await this.#pause())
      step = await alerts.closeOld(before, stepRows, now);
  }

  async #prune(records: Pick<AlertStore, "prune">, before: number): Promise<number> {
    let deleted = 0;
    for (let step = stepRows; step === stepRows && !this.#ends; await this.#pause()) {
      step = await records.prune(before, stepRows);
      deleted += step;
    }
    return deleted;
  }

  async #foldUsage(before: string): Promise<void> {
    for (let after: number | undefined = 0; after !== undefined && !this.#ends; await this.#pause())
      after = await this.#context.store.users.foldUsage(before, after, stepUsers);
  }

  #pause(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#times.pauseMs);
      timer.unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
