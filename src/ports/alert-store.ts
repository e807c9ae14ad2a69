import type { Alert, AlertAct, AlertHandling, AlertState } from "../model/alert.ts";
import type { AlertRule, AlertRuleFields, AlertType } from "../model/alert-rule.ts";
import type { DeviceKey } from "../model/device.ts";
import type { Geofence, GeofenceText } from "../model/geofence.ts";
import type { Notice, NoticeChannel, NoticeState } from "../model/notice.ts";
import type { Page, PageAsk } from "./pages.ts";

/** What of a geofence a caller sets. */
export type GeofenceFields = Pick<Geofence, "name" | "description" | "zone">;

/** Zones of accounts. */
export interface GeofenceStore {
  /**
   * `read`: what the change was judged by; absent: whatever it is. Rejects with `ChangedSince`, as all calls that have
   * it.
   */
  create(accountKey: number, id: string, fields: GeofenceFields, now: number, read?: ReadPositions): Promise<Geofence>;
  find(id: string): Promise<Geofence | undefined>;
  /** All of an account, in the order of their making. */
  list(accountKey: number): Promise<readonly Geofence[]>;
  /** Of an account, in the order of their making. */
  page(accountKey: number, ask: PageAsk): Promise<Page<GeofenceText>>;
  /**
   * Positions of the account's zones that have more than `few`, all together. `besides`: the key of a geofence that
   * does not count.
   */
  positions(accountKey: number, few: number, besides?: number): Promise<number>;
  /** Those of the ids, in the order of their making. */
  some(accountKey: number, ids: readonly string[]): Promise<readonly Geofence[]>;
  /** Those of the ids that are a geofence's of the account. */
  existing(accountKey: number, ids: readonly string[]): Promise<ReadonlySet<string>>;
  replace(
    key: number,
    fields: GeofenceFields,
    now: number,
    read?: { readonly geofence: Geofence; readonly positions?: ReadPositions | undefined },
  ): Promise<Geofence | undefined>;
  /** False: there was none. */
  remove(key: number): Promise<boolean>;
}

/** A sum of positions of an account's zones as it was read: see `GeofenceStore.positions`. */
export interface ReadPositions {
  readonly few: number;
  readonly besides?: number | undefined;
  readonly sum: number;
}

/** What one exchange does to an account's rules. Keys that are no rule's of the account are passed over. */
export interface RuleExchange {
  /** What it was judged by: a device, and the rules that name it. Absent: whatever they are. */
  readonly read?: { readonly device: string; readonly rules: readonly Pick<AlertRule, "key" | "revision">[] };
  readonly remove: readonly number[];
  readonly replace: readonly { readonly key: number; readonly fields: AlertRuleFields }[];
  readonly create: readonly { readonly id: string; readonly fields: AlertRuleFields }[];
}

/** What a rule watches. */
export type Watched = { readonly device: string } | { readonly group: string };

/** What is looked for in rules: that they watch one of these, or name a zone. */
export type NamedByRule = { readonly watched: readonly Watched[] } | { readonly zone: string };

/** Rules of accounts. */
export interface AlertRuleStore {
  create(accountKey: number, userKey: number, id: string, fields: AlertRuleFields, now: number): Promise<AlertRule>;
  find(id: string): Promise<AlertRule | undefined>;
  /** Those of the ids, in the order of their making. */
  some(accountKey: number, ids: readonly string[]): Promise<readonly AlertRule[]>;
  /** All of an account, in the order of their making. */
  list(accountKey: number): Promise<readonly AlertRule[]>;
  /** Of an account, in the order of their making. `named`: only those that name it; no others are read. */
  page(accountKey: number, ask: PageAsk, named?: NamedByRule): Promise<Page<AlertRule>>;
  /** How many of an account name it; none is read. */
  count(accountKey: number, named: NamedByRule): Promise<number>;
  /** Accounts that have a rule at all. */
  accounts(): Promise<readonly number[]>;
  /** The revision grows by one. `read`: the revision that the change was judged by. */
  replace(
    key: number,
    userKey: number,
    fields: AlertRuleFields,
    now: number,
    read?: number,
  ): Promise<AlertRule | undefined>;
  /** Removes, changes and makes rules in one transaction: all or nothing. Answers the changed ones, then those made. */
  exchange(accountKey: number, userKey: number, change: RuleExchange, now: number): Promise<readonly AlertRule[]>;
  /** False: there was none. */
  remove(key: number, read?: number): Promise<boolean>;
}

/** Place of an alert in a device's alerts: by event time, then in the order of their commits. */
export interface AlertKey {
  readonly time: number;
  readonly key: number;
}

/** An alert as read, with its place and the channels by which people were really told. */
export interface StoredAlert extends Alert {
  readonly key: number;
  readonly channels: readonly NoticeChannel[];
  readonly handling: AlertHandling;
}

/** What is asked of a device's alerts: event times are epoch ms, both ends inclusive. */
export interface AlertRange {
  readonly from: number;
  readonly to: number;
  /** Only those that follow this place. */
  readonly after?: AlertKey;
  /** The most to return. */
  readonly limit: number;
  /** Only those of rules that had this name. */
  readonly name?: string;
}

/** What an alert of an account's list must be. */
export interface AlertsWanted {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly ruleKey?: number | undefined;
  readonly type?: AlertType | undefined;
  readonly state?: AlertState | undefined;
  readonly critical?: boolean | undefined;
}

/** What is asked of the alerts of an account. */
export interface AccountAlertsAsk {
  /** `newest`: by event time, the newest first · `found`: in the order of their commits. */
  readonly order: "newest" | "found";
  readonly wanted: AlertsWanted;
  /** Only those of these devices, a few. By event time only. */
  readonly devices?: readonly DeviceKey[];
  /** Only those behind this place. */
  readonly after?: AlertKey | undefined;
  /** The most to return. */
  readonly limit: number;
}

/** Where alerts of an account are. */
export interface AlertPlaces {
  readonly places: readonly (AlertKey & { readonly device: DeviceKey })[];
  /**
   * The last place that was looked at, where there may be more behind it: one question looks at a bounded number of
   * alerts.
   */
  readonly next: AlertKey | undefined;
}

/** Alerts that were committed with the fixes that caused them. */
export interface AlertStore {
  /** In order. */
  list(device: DeviceKey, range: AlertRange): Promise<readonly StoredAlert[]>;
  find(id: string): Promise<StoredAlert | undefined>;
  /** A device's alerts with these ids. */
  some(device: DeviceKey, ids: readonly string[]): Promise<readonly StoredAlert[]>;
  /**
   * Where the alerts of an account are that are wanted; of removed devices too. A rule that is wanted must be one of
   * the account.
   */
  places(accountKey: number, ask: AccountAlertsAsk): Promise<AlertPlaces>;
  /** Key of the alert of an account that was committed last; 0: it has none. */
  newest(accountKey: number): Promise<number>;
  /**
   * Alerts with these keys, in their order, up to `bytes` bytes, but at least one. Those that are gone are left out.
   */
  read(keys: readonly number[], bytes: number): Promise<Page<StoredAlert>>;
  /** An account's alerts with these ids. */
  ofAccount(accountKey: number, ids: readonly string[]): Promise<readonly StoredAlert[]>;
  /**
   * Somebody sees to alerts: those that are open are acknowledged, or closed where what they tell has ended already.
   * The others stay as they are.
   */
  acknowledge(keys: readonly number[], act: AlertAct): Promise<void>;
  /** Closes alerts; closed ones stay as they are. */
  close(keys: readonly number[], act: AlertAct): Promise<void>;
  /**
   * Closes at most `limit` alerts that are open or acknowledged, not critical, and were found before then, oldest
   * first. Returns how many.
   */
  closeOld(before: number, limit: number, now: number): Promise<number>;
  /** Deletes at most `limit` alerts that were found before then, oldest first. Returns how many. */
  prune(before: number, limit: number): Promise<number>;
}

/** What became of a try. `queued` again: another try at `dueAt`. */
export interface NoticeOutcome {
  readonly state: "sent" | "failed" | "suppressed" | "queued";
  readonly reason: string | null;
  readonly peerId: string | null;
  /** The next try; meaningful for `queued`. */
  readonly dueAt: number;
  /** Nothing was tried, or the peer only asked for less: it does not count as a try. */
  readonly untried?: true;
}

/** What waits to be sent. */
export interface NoticeBacklog {
  readonly queued: number;
  /** When the first of them was made; undefined: none waits. */
  readonly oldest: number | undefined;
}

/** A device's daily counter as a claim asks for it: a day of its account, and the places of that day. */
export interface DayPlaces {
  readonly day: string;
  readonly limit: number;
  /** What all devices of the account may send that day. Absent: anything. */
  readonly accountLimit?: number;
  /** Places that the notice needs: an SMS one for each part. Absent: one. */
  readonly count?: number;
  /**
   * The limits of the day, of which `limit` and `accountLimit` leave something to critical alerts. Absent: they leave
   * nothing.
   */
  readonly whole?: { readonly limit: number; readonly accountLimit: number };
}

/** How often the recipient of a notice is told of the same. */
export interface PauseAsk {
  /** What it is about and who is told. */
  readonly subject: string;
  readonly event: string;
  /** Event time of the alert. */
  readonly time: number;
  /** The first interval. */
  readonly minutes: number;
}

/** What is asked of a device's notices. */
export interface NoticeRange {
  /** Only those that are older than the notice of this key. */
  readonly after?: number;
  /** The most to return. */
  readonly limit: number;
  /** Only those that stand so; absent: all. */
  readonly states?: readonly NoticeState[];
}

/** The place of a queued notice: those due first come first. */
export interface DuePlace {
  readonly dueAt: number;
  readonly key: number;
}

/** What is asked of the due notices of a channel. */
export interface DueAsk {
  /** The most to return. */
  readonly limit: number;
  /** Only those behind this place; absent: all. */
  readonly after?: DuePlace | undefined;
  /** Keys of those that are known already: their rows are not read. */
  readonly besides?: ReadonlySet<number>;
  /**
   * Whether notices of an account, by its key, are asked for: the rows of others are not read. Absent: of all accounts.
   */
  readonly ofAccount?: (account: number) => boolean;
}

/** Some of the due notices. */
export interface Due {
  readonly notices: readonly Notice[];
  /** The last place that was looked at; undefined: there was none. */
  readonly last: DuePlace | undefined;
  /** Whether there may be more behind it. */
  readonly more: boolean;
}

/** What one step of making room did. */
export interface NoticeRoom {
  /** Queued notices that failed, since too many of their device wait. */
  readonly givenUp: readonly { readonly device: DeviceKey; readonly channel: NoticeChannel }[];
  /** Whether there is more to do. */
  readonly more: boolean;
}

/**
 * How long claims last after their owner's last renewal, ms: longer than the time between two renewals and any try
 * together. A mail may take 600 s (`mail.timeoutSeconds`), and before that the answer to its claim 20 s.
 */
export const noticeLeaseMs = 900_000;

/**
 * The outbox. Each device has a bounded number of notices, which `makeRoom` sees to. A notice is worked on by whoever
 * claimed it; each step is a compare-and-set.
 */
export interface NoticeStore {
  /**
   * Notices of a channel that may be sent now, those due first at first; not those that are being sent. One question
   * looks at a bounded number of them: there may be more though it gives none.
   */
  due(channel: NoticeChannel, now: number, ask: DueAsk): Promise<Due>;
  /** When the next queued notice of any channel is due; undefined: none waits. */
  nextDue(): Promise<number | undefined>;
  /**
   * Makes a queued notice `sending`, and in the same transaction takes its places in the device's daily counter for an
   * e-mail or SMS that holds none. Places that it holds of another day, or another number of them, are given back for
   * those it needs of this day. `limit`: the day has fewer places left, and the notice is suppressed now. `gone`: it is
   * not queued any more, or its device is gone. With a pause a notice that was never tried may be too soon. `waits`: it
   * stays queued until the interval is over; `repeated`: it is suppressed now. See `NoticePause`.
   */
  claim(
    key: number,
    now: number,
    counter: DayPlaces | undefined,
    pause?: PauseAsk,
  ): Promise<"claimed" | "limit" | "gone" | "waits" | "repeated">;
  /**
   * Records that a notice of the subject does not go out, so that older notices which wait for the end of a pause do
   * not go out as the newest.
   */
  passOver(key: number, pause: PauseAsk): Promise<void>;
  /**
   * Ends a try. `lost`: this process has no claim of the notice, which stays as it is: it was recorded before, or
   * another process has taken the notice over. A place in the counter is given back where the notice is not sent after
   * all (`failed`, `suppressed`); while it waits for another try it keeps it.
   */
  finish(key: number, outcome: NoticeOutcome, now: number): Promise<"recorded" | "lost">;
  /** Makes notices wait until then; those that are not queued stay as they are. */
  postpone(keys: readonly number[], dueAt: number): Promise<void>;
  /** Counts the queued notices, of all channels; those of a removed device until they are deleted. */
  backlog(): Promise<NoticeBacklog>;
  /**
   * Renews the claims of the notices that this process works on (`underWay`, by their keys). Called at the start, and
   * then several times in `noticeLeaseMs`. Queues again, keeping their places, what this process has claimed and does
   * not work on, since the claim was not answered; and what others claimed, if they renewed no claim for
   * `noticeLeaseMs`. How many these were. `now`: monotonic ms.
   */
  renew(now: number, underWay: readonly number[]): Promise<number>;
  /**
   * Queues again, keeping their places, what others claimed whose runs have ended, as far as the engine knows that. How
   * many these were.
   */
  takeUp(): Promise<number>;
  /** Newest first. */
  list(device: DeviceKey, range: NoticeRange): Promise<readonly Notice[]>;
  page(device: DeviceKey, ask: PageAsk, states?: readonly NoticeState[]): Promise<Page<Notice>>;
  find(device: DeviceKey, id: string): Promise<Notice | undefined>;
  /**
   * Queues a final notice once more, by hand: its tries begin anew, and it takes a new place in the counters. `open`:
   * it is not final, or gone; `limit`: it was done that often already.
   */
  resend(key: number, now: number, most: number): Promise<Notice | "open" | "limit">;
  /**
   * One step towards the bound of a device that made notices since it was last looked at: its oldest notices that ended
   * are deleted. Where there are none left, the oldest that wait fail, and give back their places in the counters.
   */
  makeRoom(now: number): Promise<NoticeRoom>;
  /** Deletes at most `limit` pauses whose last message was due before then. Returns how many. */
  prunePauses(before: number, limit: number): Promise<number>;
  /** Deletes at most `limit` notices that ended before then, oldest first. Returns how many. */
  prune(before: number, limit: number): Promise<number>;
}
