import type { CapsOf } from "../model/caps.ts";
import type { Notice, NoticeChannel } from "../model/notice.ts";
import type { NoticeStore } from "../ports/alert-store.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Histories } from "../ports/history.ts";
import type { Ids } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import type { Metrics } from "../ports/metrics.ts";
import { BusyLoop } from "../shares/loop-load.ts";
import { Attempt } from "./attempt.ts";
import type { ConsentStore } from "./consent.ts";
import type { Ways } from "./deliver.ts";
import { Lane } from "./lane.ts";
import { type OutboxMetrics, outboxMetrics } from "./outbox-metrics.ts";
import type { SubjectStore } from "./subject.ts";
import type { TargetOptions } from "./targets.ts";

/** What the outbox needs of the service. */
export interface OutboxDeps {
  readonly store: SubjectStore & ConsentStore & { readonly notices: NoticeStore };
  readonly histories: Pick<Histories, "lastBefore">;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly ways: Ways;
  readonly capsOf: CapsOf;
  /** The first interval between messages to a recipient about the same; 0: there are no pauses. */
  readonly pauseMinutes: number;
  /** Mails that are sent at a time. */
  readonly mailsAtOnce: number;
}

/** Sends the notices that are queued. */
export interface Outbox {
  /** Takes up what a crash left, and works from now on. */
  start(): void;
  /**
   * Begins nothing more, and waits some seconds for the answers to what was handed over; what has none by then is sent
   * again after the next start.
   */
  stop(): Promise<void>;
}

/**
 * Calls of webhooks at a time, each a socket for 10 s at most; to one URL; and to one host, which may be a small one or
 * many people's.
 */
const calls = { parallel: 128, perTarget: 4, perFailing: 1, slowMs: 5000 };
const mostCallsOfHost = 16;
/** SMS at a time: what gateways take without an answer. */
const mostSms = 10;
/** Commands at a time, each for one device, whose answer may take 10 s. */
const mostCommands = 64;

/** Commits come by the hundred a second: the store is asked once for all that queue notices within this time, ms. */
const gatherMs = 100;
/** The longest that it sleeps, ms: events may be lost, and a wall clock may be set. */
const longestSleepMs = 30_000;
/** The shortest, ms: what is due and waits for its target is due all the time. */
const shortestSleepMs = 1000;
/** How often what waits is counted while there is something, ms. */
const countMs = 10_000;
/** How long stopping waits for peers, ms. What is cut off is sent again after the next start, under the same id. */
const stopMs = 5_000;
/** Pause before the store is asked again where it could not be, ms. */
const storeDownMs = 1000;
/** How often claims are renewed, ms. One that fails does not matter: see `noticeLeaseMs`. */
const renewMs = 60_000;

/** The outbox over its store and its ways out. */
export function createOutbox(deps: OutboxDeps): Outbox {
  return new Worker(deps);
}

class Worker implements Outbox {
  readonly #deps: OutboxDeps;
  readonly #metrics: OutboxMetrics;
  readonly #attempt: Attempt;
  readonly #lanes: readonly Lane[];
  readonly #loop = new BusyLoop();
  readonly #stopping = new AbortController();
  readonly #stopped = new AbortController();
  #unsubscribe: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  #counting: NodeJS.Timeout | undefined;
  #renewal: NodeJS.Timeout | undefined;
  #renewing: Promise<void> | undefined;
  #starting: Promise<void> | undefined;
  #arming: Promise<void> | undefined;
  #armAgain = false;
  #making: Promise<void> | undefined;
  /** Something may wait that was not counted. */
  #stirred = true;

  constructor(deps: OutboxDeps) {
    this.#deps = deps;
    this.#metrics = outboxMetrics(deps.metrics, deps.clock);
    const [stopping, stopped] = [this.#stopping.signal, this.#stopped.signal];
    this.#attempt = new Attempt({ ...deps, count: this.#metrics.count, stopping, stopped });
    const mails = deps.mailsAtOnce;
    this.#lanes = [
      this.#lane("email", { parallel: mails, perTarget: mails, perFailing: mails }),
      this.#lane("sms", { parallel: mostSms, perTarget: mostSms, perFailing: mostSms }),
      this.#lane("webhook", { ...calls, targetOf: placeOf, groups: { groupOf: hostOf, most: mostCallsOfHost } }),
      this.#lane("command", {
        parallel: mostCommands,
        perTarget: 1,
        perFailing: 1,
        targetOf: ({ device }) => String(device),
      }),
    ];
  }

  start(): void {
    this.#loop.start();
    this.#starting = this.#begin();
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.();
    clearInterval(this.#counting);
    clearInterval(this.#renewal);
    clearTimeout(this.#soon);
    this.#stopping.abort();
    await this.#starting;
    await this.#arming;
    await this.#making;
    await this.#renewing;
    clearTimeout(this.#timer);
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, stopMs);
    });
    await Promise.race([Promise.all(this.#lanes.map((lane) => lane.stop())), tooLong]);
    clearTimeout(timer);
    this.#stopped.abort();
    this.#loop.stop();
    const notices = this.#lanes.reduce((sum, { underWay }) => sum + underWay, 0);
    if (notices > 0) this.#deps.log.info({ notices }, "notices without an answer are sent again after the next start");
  }

  #lane(channel: NoticeChannel, options: TargetOptions): Lane {
    const { clock, log } = this.#deps;
    const work = async (notice: Notice) => {
      const { showed, again } = await this.#attempt.run(notice);
      if (again) this.#arm();
      return showed;
    };
    const busyLoad = () => this.#loop.busyLoad;
    return new Lane(channel, options, { notices: this.#deps.store.notices, clock, log, busyLoad, work });
  }

  async #begin(): Promise<void> {
    const { log, bus } = this.#deps;
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#renew();
        await this.#takeUp();
        break;
      } catch (error) {
        log.warn({ error }, "the outbox can't be taken up; trying again");
        await pause(storeDownMs, this.#stopping.signal);
      }
    }
    if (this.#stopping.signal.aborted) return;
    this.#unsubscribe = bus.subscribe((event) => {
      if (event.type === "noticesQueued") this.#soon ??= setTimeout(() => this.#wake(), gatherMs);
      if (event.type === "processesChanged") this.#keep(() => this.#takeUp());
    });
    this.#counting = setInterval(() => void this.#count(), countMs);
    this.#counting.unref();
    this.#renewal = setInterval(() => this.#keep(() => this.#renew().then(() => this.#takeUp())), renewMs);
    this.#renewal.unref();
    this.#wake();
  }

  #keep(work: () => Promise<void>): void {
    const { log } = this.#deps;
    this.#renewing = Promise.all([this.#renewing, work()]).then(
      () => undefined,
      (error: unknown) => log.warn({ error }, "claims of notices can't be renewed; trying again"),
    );
  }

  /** Renews the claims of what is under way, and takes up what was claimed and is not. */
  async #renew(): Promise<void> {
    const { store, clock } = this.#deps;
    this.#found(await store.notices.renew(clock.monotonic(), this.#attempt.underWay));
  }

  /** Takes up what a process that ended left. */
  async #takeUp(): Promise<void> {
    this.#found(await this.#deps.store.notices.takeUp());
  }

  #found(left: number): void {
    if (left === 0) return;
    this.#deps.log.info({ notices: left }, "notices without an answer are sent again");
    this.#wake();
  }

  #wake(): void {
    clearTimeout(this.#soon);
    this.#soon = undefined;
    this.#stirred = true;
    for (const lane of this.#lanes) lane.wake();
    this.#arm();
    this.#making ??= this.#makeRoom().finally(() => {
      this.#making = undefined;
    });
  }

  /** Keeps the notices of each device to their bound. */
  async #makeRoom(): Promise<void> {
    const { store, clock, log } = this.#deps;
    try {
      for (let more = true; more && !this.#stopping.signal.aborted; ) {
        const room = await store.notices.makeRoom(clock.now());
        for (const { channel } of room.givenUp) this.#metrics.count(channel, "failed");
        const [first] = room.givenUp;
        if (first !== undefined)
          log.warn(
            { device: first.device, notices: room.givenUp.length },
            "too many notices of a device wait: the oldest fail",
          );
        more = room.more;
      }
    } catch (error) {
      log.debug({ error }, "notices could not be kept to their bound; trying again");
    }
  }

  /** Sets the timer to when the next one is due. */
  #arm(): void {
    this.#armAgain = true;
    if (this.#stopping.signal.aborted || this.#arming !== undefined) return;
    this.#arming = this.#setTimer().finally(() => {
      this.#arming = undefined;
      if (this.#armAgain) this.#arm();
    });
  }

  async #setTimer(): Promise<void> {
    this.#armAgain = false;
    const { store, clock, log } = this.#deps;
    let sleepMs = storeDownMs;
    try {
      const next = await store.notices.nextDue();
      const left = next === undefined ? longestSleepMs : next - clock.now();
      sleepMs = Math.min(longestSleepMs, Math.max(shortestSleepMs, left));
    } catch (error) {
      log.debug({ error }, "the next notice can't be asked for; trying again");
    }
    clearTimeout(this.#timer);
    if (this.#stopping.signal.aborted) return;
    this.#timer = setTimeout(() => this.#wake(), sleepMs);
    this.#timer.unref();
  }

  async #count(): Promise<void> {
    if (!this.#stirred) return;
    try {
      this.#metrics.backlog = await this.#deps.store.notices.backlog();
      this.#stirred = this.#metrics.backlog.queued > 0;
    } catch (error) {
      this.#deps.log.debug({ error }, "the waiting notices can't be counted");
    }
  }
}

/** The host of a webhook, with its port. */
function hostOf({ target }: Notice): string {
  return target.channel === "webhook" && URL.canParse(target.url) ? new URL(target.url).host : "";
}

/**
 * A webhook as one that hangs or works: others at its host may be somebody else's. A chat of Telegram is one of the
 * account's bot.
 */
function placeOf({ target, account }: Notice): string {
  if (target.channel === "webhook" && target.format === "telegram") return `${account} ${target.url}`;
  return target.channel === "webhook" ? (target.url.split("?")[0] ?? "") : "";
}

/** Resolves after that time, or when it is called off. */
function pause(ms: number, off: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      off.removeEventListener("abort", done);
      resolve();
    }
    off.addEventListener("abort", done);
  });
}
