import { dayIn } from "../model/account-day.ts";
import type { Alert } from "../model/alert.ts";
import type { CapsOf } from "../model/caps.ts";
import type { Notice, NoticeChannel } from "../model/notice.ts";
import type { DayPlaces, NoticeOutcome, NoticeStore, PauseAsk } from "../ports/alert-store.ts";
import type { Clock } from "../ports/clock.ts";
import type { Histories } from "../ports/history.ts";
import type { Ids } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import { type ConsentStore, withoutConsent } from "./consent.ts";
import { closedWay, deliver, type Handed, partsOf, type Ways } from "./deliver.ts";
import type { TryOutcome } from "./outbox-metrics.ts";
import { type Subject, type SubjectStore, Subjects } from "./subject.ts";
import type { Showed } from "./targets.ts";
import { mostRetryAfterMs, mostTries, pauseAfter, spread } from "./tries.ts";

/** What a try needs of the outbox. */
export interface AttemptDeps {
  readonly store: SubjectStore &
    ConsentStore & { readonly notices: Pick<NoticeStore, "claim" | "finish" | "passOver"> };
  readonly histories: Pick<Histories, "lastBefore">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly ways: Ways;
  readonly capsOf: CapsOf;
  /** See `NoticePause`; 0: no pauses. */
  readonly pauseMinutes: number;
  readonly count: (channel: NoticeChannel, outcome: TryOutcome) => void;
  readonly stopping: AbortSignal;
  /** The outbox has stopped, and its store may be closed. */
  readonly stopped: AbortSignal;
}

/** What a try showed of its target, and whether there will be another one. */
export interface Attempted {
  readonly showed: Showed;
  readonly again: boolean;
}

/**
 * A peer that asks for less is not counted as a try for so long after the notice was made, ms: it ends some time in any
 * case.
 */
const patienceMs = 86_400_000;
/** Tries of an SMS that the gateway may have taken each time: at least one of them arrives, and each costs money. */
const mostDoubtful = 2;
/** The part of each daily limit that is kept for critical alerts: one in so many places. */
const keptPart = 5;
/** Pauses between the tries to record what became of a notice, ms. */
const firstPauseMs = 100;
const mostPauseMs = 5000;

/**
 * Each SOS and each crash is a call for help of its own, never a repetition. The daily limits bound a button that is
 * stuck.
 */
function callsForHelp({ type, facts: { alarm } }: Alert): boolean {
  return type === "sos" || alarm === "sos" || alarm === "accident";
}

const nothing: Attempted = { showed: {}, again: false };

/**
 * One try of a notice: look what it tells of, claim it with a place of its device's day, hand it over, record the
 * answer.
 */
export class Attempt {
  readonly #deps: AttemptDeps;
  readonly #subjects: Subjects;
  readonly #underWay = new Set<number>();

  constructor(deps: AttemptDeps) {
    this.#deps = deps;
    this.#subjects = new Subjects(deps.store, deps.histories, deps.log);
  }

  /** Keys of the notices that are being tried. */
  get underWay(): readonly number[] {
    return [...this.#underWay];
  }

  /** Tries it once. */
  async run(notice: Notice): Promise<Attempted> {
    this.#underWay.add(notice.key);
    try {
      return await this.#run(notice);
    } finally {
      this.#underWay.delete(notice.key);
    }
  }

  async #run(notice: Notice): Promise<Attempted> {
    const { store, clock, ways } = this.#deps;
    const found = await this.#subjects.find(notice, clock);
    if (found === "gone") return nothing;
    const closed = closedWay(notice.target.channel, ways);
    if (closed !== undefined) return this.#suppress(notice, closed);
    if ("suppressed" in found) return this.#suppress(notice, found.suppressed);
    const { subject } = found;
    if (subject.muted !== undefined) return this.#mute(subject, subject.muted);
    const unwanted = await withoutConsent(store, this.#deps.capsOf, subject.account, notice.target);
    if (unwanted !== undefined) return this.#suppress(notice, unwanted);
    const claimed = await this.#claim(notice, this.#placesOf(subject), this.#pauseOf(subject));
    if (claimed === "unknown" || claimed === "waits") return { showed: {}, again: true };
    if (claimed === "limit" || claimed === "repeated") this.#deps.count(notice.target.channel, "suppressed");
    if (claimed !== "claimed") return nothing;
    return this.#conclude(notice, await this.#hand(subject, notice.attempts + 1));
  }

  /** Undefined: its channel has no limit. */
  #placesOf(subject: Subject): DayPlaces | undefined {
    const { device, account, notice } = subject;
    const { channel } = notice.target;
    if (channel !== "email" && channel !== "sms") return undefined;
    const { dailyEmails, dailySms, deviceDailyEmails, deviceDailySms } = this.#deps.capsOf(account);
    const [limit, accountLimit] =
      channel === "email"
        ? [Math.min(device.dailyEmailLimit, deviceDailyEmails), dailyEmails]
        : [Math.min(device.dailySmsLimit, deviceDailySms), dailySms];
    const day = dayIn(account.timeZone, this.#deps.clock.now());
    const count = partsOf(subject, this.#deps.ways);
    if (subject.alert.critical) return { day, limit, accountLimit, count };
    const [share, accountShare] = [shareOf(limit), shareOf(accountLimit)];
    return { day, limit: share, accountLimit: accountShare, count, whole: { limit, accountLimit } };
  }

  /** Undefined: its channel has no pauses, or each message counts. */
  #pauseOf({ alert, notice: { target } }: Subject): PauseAsk | undefined {
    const { pauseMinutes } = this.#deps;
    if (pauseMinutes === 0 || (target.channel !== "email" && target.channel !== "sms")) return undefined;
    if (callsForHelp(alert)) return undefined;
    // A rule may watch several alarms. A message about one of them says nothing of another.
    const { zone = "", event = "", alarm = "", code = "" } = alert.facts;
    const subject = JSON.stringify([alert.ruleKey, alert.device, zone, alarm, code, target.channel, target.to]);
    return { subject, event: `${alert.phase} ${event}`, time: alert.time, minutes: pauseMinutes };
  }

  /**
   * `unknown`: the store did not answer. It may be claimed then, and nobody would work on it for a minute or two: it is
   * given back.
   */
  async #claim(notice: Notice, places: DayPlaces | undefined, pause?: PauseAsk) {
    const { store, clock, log } = this.#deps;
    try {
      return await store.notices.claim(notice.key, clock.now(), places, pause);
    } catch (error) {
      log.warn({ error, notice: notice.id }, "a notice can't be claimed; trying again");
    }
    await this.#record(notice, { state: "queued", reason: null, peerId: null, dueAt: notice.dueAt, untried: true });
    return "unknown" as const;
  }

  /** Without a place in the day, since it uses none. */
  async #suppress(notice: Notice, reason: string): Promise<Attempted> {
    if ((await this.#claim(notice, undefined)) !== "claimed") return nothing;
    await this.#record(notice, { state: "suppressed", reason, peerId: null, dueAt: 0, untried: true });
    return nothing;
  }

  /**
   * Notes the message in its pause before it suppresses the notice. Otherwise, if the mute ends before the pause, an
   * older message that waits would go out as the newest.
   */
  async #mute(subject: Subject, reason: string): Promise<Attempted> {
    const { notice } = subject;
    const pause = this.#pauseOf(subject);
    if (pause !== undefined) await this.#deps.store.notices.passOver(notice.key, pause);
    return this.#suppress(notice, reason);
  }

  async #hand(subject: Subject, attempt: number): Promise<Handed> {
    try {
      return await deliver(subject, attempt, this.#deps.ways);
    } catch (error) {
      this.#deps.log.error({ error, notice: subject.notice.id }, "a notice could not be handed over");
      return { outcome: "unavailable", reason: "an error of the service, which its log tells of" };
    }
  }

  async #conclude(notice: Notice, handed: Handed): Promise<Attempted> {
    const outcome = this.#outcomeOf(notice, handed);
    if ((await this.#record(notice, outcome)) === "lost") {
      this.#deps.log.warn(
        { notice: notice.id, ...outcome },
        "what became of a notice is not recorded: another process has taken it over, or its device is removed",
      );
      return { showed: showedOf(handed), again: false };
    }
    return { showed: showedOf(handed), again: outcome.state === "queued" };
  }

  #outcomeOf(notice: Notice, handed: Handed): NoticeOutcome {
    const { clock } = this.#deps;
    const tries = notice.attempts + 1;
    const end = { peerId: null, dueAt: 0 };
    switch (handed.outcome) {
      case "accepted":
        return { ...end, state: "sent", reason: null, peerId: handed.peerId };
      case "refused":
        return { ...end, state: "failed", reason: handed.reason };
      case "suppressed":
        return { ...end, state: "suppressed", reason: handed.reason };
      case "maybe":
        if (tries < mostDoubtful) return this.#retry(tries, handed.reason, 0);
        return { ...end, state: "sent", reason: `${handed.reason}: it may or may not have been sent` };
      case "throttled":
        if (clock.now() - notice.creation > patienceMs) return this.#retry(tries, handed.reason, handed.retryAfterMs);
        return {
          state: "queued",
          reason: handed.reason,
          peerId: null,
          dueAt: clock.now() + spread(Math.min(handed.retryAfterMs, mostRetryAfterMs), this.#deps.ids),
          untried: true,
        };
      case "unavailable":
        return this.#retry(tries, handed.reason, handed.retryAfterMs ?? 0);
    }
  }

  #retry(tries: number, reason: string, askedMs: number): NoticeOutcome {
    const { clock, ids } = this.#deps;
    const pause = pauseAfter(tries, askedMs, ids);
    if (pause === undefined)
      return { state: "failed", reason: `given up after ${mostTries} tries: ${reason}`, peerId: null, dueAt: 0 };
    return { state: "queued", reason, peerId: null, dueAt: clock.now() + pause };
  }

  /**
   * Records what became of it; while the store is down that is tried again. Where the service ends before, the notice
   * is sent again under its id. `lost`: another process had the claim, or nobody; not told if an earlier answer was
   * lost, because that call may have recorded it.
   */
  async #record(notice: Notice, outcome: NoticeOutcome): Promise<"recorded" | "lost" | "unknown"> {
    const { store, clock, log, stopping, stopped, count } = this.#deps;
    let unanswered = false;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, mostPauseMs)) {
      try {
        const recorded = await store.notices.finish(notice.key, outcome, clock.now());
        if (recorded === "lost" && !unanswered) return "lost";
        count(notice.target.channel, outcome.state === "queued" ? "retried" : outcome.state);
        return "recorded";
      } catch (error) {
        // The store may be closed by now: the next start sends the notice again, and the outbox has said so.
        const level = stopped.aborted ? "debug" : "warn";
        log[level]({ error, notice: notice.id, state: outcome.state }, "what became of a notice can't be recorded");
        if (stopping.aborted) return "unknown";
        unanswered = true;
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

/** What of a day's limit others than critical alerts may use: a fifth is kept for these, of limits that have one. */
function shareOf(limit: number): number {
  return limit - Math.floor(limit / keptPart);
}

function showedOf(handed: Handed): Showed {
  switch (handed.outcome) {
    case "accepted":
    case "refused":
      return { works: true };
    case "suppressed":
      return {};
    case "throttled":
      return { works: true, pauseMs: handed.retryAfterMs };
    case "maybe":
      return { works: false };
    case "unavailable": {
      const { retryAfterMs } = handed;
      return { works: false, ...(retryAfterMs !== undefined && { pauseMs: Math.min(retryAfterMs, mostRetryAfterMs) }) };
    }
  }
}
