import type { Clock, ClockTrust } from "../ports/clock.ts";
import type { CommandStore } from "../ports/command-store.ts";
import type { Log } from "../ports/log.ts";

/** The longest sleep, ms: a wall clock that was set forward is noticed so soon. A look compares two numbers. */
const longestSleepMs = 1000;
/** Time after which to try again while the store can't be asked, ms. */
const retryMs = 1000;

/** What it needs of the service. */
export interface CommandExpiryContext {
  readonly clock: Clock;
  /** Nothing is ended by a clock that may be fast; unless given, ours is right. */
  readonly clockTrust?: Pick<ClockTrust, "mayExpire"> | undefined;
  readonly log: Log;
}

const trusted = { mayExpire: () => true };

/** Ends queued commands at the moment when their time runs out: one timer for all, none while none waits. */
export class CommandExpiry {
  readonly #commands: Pick<CommandStore, "expire" | "nextExpiry">;
  readonly #clock: Clock;
  readonly #trust: Pick<ClockTrust, "mayExpire">;
  readonly #log: Log;
  /** Told after some have ended. */
  readonly #onEnded: () => void;
  /** The earliest expiry; undefined: none waits. Known only after the first look. */
  #next: number | undefined;
  #known = false;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #held = false;
  #stopped = false;

  constructor(
    commands: Pick<CommandStore, "expire" | "nextExpiry">,
    { clock, clockTrust = trusted, log }: CommandExpiryContext,
    onEnded: () => void,
  ) {
    this.#commands = commands;
    this.#clock = clock;
    this.#trust = clockTrust;
    this.#log = log;
    this.#onEnded = onEnded;
  }

  /** Looks at once: what ran out while the service was down ends now. */
  start(): void {
    this.#look();
  }

  /** A command waits until then. */
  add(expires: number): void {
    this.#next = this.#next === undefined ? expires : Math.min(this.#next, expires);
    this.#sleep();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  #sleep(): void {
    clearTimeout(this.#timer);
    if (this.#stopped || this.#next === undefined || this.#looking !== undefined) return;
    const left = Math.max(0, this.#next - this.#clock.now());
    this.#timer = setTimeout(() => this.#wake(), Math.min(left, longestSleepMs));
    this.#timer.unref();
  }

  #wake(): void {
    if (!this.#known || (this.#next !== undefined && this.#clock.now() >= this.#next)) this.#look();
    else this.#sleep();
  }

  #look(): void {
    this.#looking ??= this.#ask().then((wait) => {
      this.#looking = undefined;
      if (wait === undefined || this.#stopped) this.#sleep();
      else {
        this.#timer = setTimeout(() => this.#look(), wait);
        this.#timer.unref();
      }
    });
  }

  /** They stay queued then, and are not sent either. */
  #isHeld(): boolean {
    const held = !this.#trust.mayExpire();
    if (held && !this.#held) this.#log.warn({}, "no queued command is ended: our own clock may be fast");
    this.#held = held;
    return held;
  }

  /** Ends what has run out and asks for the next. Gives the time after which to try again, where that failed. */
  async #ask(): Promise<number | undefined> {
    if (this.#isHeld()) return retryMs;
    try {
      const ended = await this.#commands.expire(this.#clock.now());
      if (ended.length > 0) {
        this.#log.info({ commands: ended.length }, "queued commands ran out");
        this.#onEnded();
      }
      // What is added while the store is asked counts beside its answer.
      this.#next = undefined;
      const next = await this.#commands.nextExpiry();
      this.#known = true;
      if (next !== undefined) this.add(next);
      return undefined;
    } catch (error) {
      this.#known = false;
      this.#log.warn({ error }, "queued commands that ran out could not be ended");
      return retryMs;
    }
  }
}
