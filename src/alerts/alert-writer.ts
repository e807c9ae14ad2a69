import type { AccountWording, Alert, AlertEnd, AlertFacts, AlertPhase, LocationAlerts } from "../model/alert.ts";
import type { NewNotice, NoticeTarget } from "../model/notice.ts";
import type { WatchedDevice } from "../ports/alert-engine.ts";
import type { Ids } from "../ports/ids.ts";
import { wordsOf } from "../wording/index.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import type { Finder } from "./evaluate.ts";
import type { Seen } from "./judge.ts";
import { alertTextOf } from "./text.ts";
import { speedOf } from "./values.ts";

/** A command is for the moment: an alert whose report arrived longer ago than this sends none any more, ms. */
const commandsForMs = 5 * 60_000;
/** A tracker's clock may be so far from ours; what it tells as farther away is not of this moment, ms. */
const clockOffMs = 60 * 60_000;
/**
 * Alerts and notices of one report: far more than people read, and a commit holds. Two thousand rules of twenty
 * recipients each would make 40,000 of one fix.
 */
export const mostAlerts = 100;
const mostNotices = 500;
/** Of one device's commit: what reports bring beyond is its next commit. */
const fullAlerts = 500;
const fullNotices = 1000;
/** What was found and is not kept, because there was too much of it at a time. */
export interface LeftOut {
  readonly alerts: number;
  readonly notices: number;
}

/** What there is room for. */
export interface NoticeRoom {
  /** Notices that the device's account may still make; and those that it may where an alert is critical. */
  readonly notices: number;
  readonly critical: number;
  /** Told what there was no room for. */
  leftOut(what: LeftOut): void;
}

/** Why a notice is suppressed from the start. */
const reasons = {
  commandLate: "reported late, more than 5 minutes after it happened: the command is not sent any more",
  commandOld: "the report arrived more than 5 minutes ago: the command is not sent any more",
  commandFar: "the report's time is more than an hour from its arrival: the command is not sent",
} as const;

/** Whether people are told that what the rule raised is over. */
export function tellsEnds({ rule }: Pick<CompiledRule, "rule">): boolean {
  return rule.notifyWhenOver || rule.notifyOnlyWhenOver;
}

/** Writes what the rules of one device found as alerts and notices. */
export class AlertWriter implements Finder {
  readonly alerts: Alert[] = [];
  readonly notices: NewNotice[] = [];
  /** Ends and withdrawals of alerts, those of this commit included. */
  readonly ended: AlertEnd[] = [];
  readonly #device: WatchedDevice;
  readonly #wording: AccountWording;
  readonly #ids: Ids;
  readonly #now: number;
  /** Where the present report's begin. */
  #alertsFrom = 0;
  #noticesFrom = 0;
  #left = { alerts: 0, notices: 0 };
  readonly #room: NoticeRoom;
  /** What is found up to that event time comes of late records. */
  lateUntil = Number.NEGATIVE_INFINITY;

  constructor(device: WatchedDevice, wording: AccountWording, ids: Ids, now: number, room: NoticeRoom) {
    this.#room = room;
    this.#device = device;
    this.#wording = wording;
    this.#ids = ids;
    this.#now = now;
  }

  /** `told`: people know of it, so it stands in the record alone. */
  raised(rule: CompiledRule, seen: Seen, time: number, facts: AlertFacts, told = false): void {
    const alert = this.#write(rule, "raised", seen, time, facts);
    if (alert === undefined || told) return;
    this.#command(rule, alert, seen.observation?.receivedAt ?? this.#now);
    if (!rule.rule.notifyOnlyWhenOver || rule.momentary) this.#notify(rule, alert);
  }

  /** Tells the end of what was raised, if people want to know of ends. */
  over(rule: CompiledRule, seen: Seen, time: number, facts: AlertFacts, told = false): void {
    if (!tellsEnds(rule)) return;
    const alert = this.#write(rule, "over", seen, time, facts);
    if (alert !== undefined && !told) this.#notify(rule, alert);
  }

  /** Closes what the rule raised: it is over, whether people are told or not. */
  closed({ rule: { key: ruleKey } }: CompiledRule, time: number): void {
    this.ended.push({ ruleKey, time, foundAt: this.#now });
  }

  /** The record says of an alert that it was wrong. Nobody is told. */
  withdraw(alert: Alert): void {
    const text = wordsOf(this.#wording.language).withdrawn(alert.text);
    const { device, ruleKey, ruleId, name, type, time, latitude, longitude, speed, critical, facts } = alert;
    const same = { device, ruleKey, ruleId, name, type, time, latitude, longitude, speed, critical, facts };
    const [id, raisedAt] = [this.#ids.uuid(), this.#now];
    this.alerts.push({ ...same, id, phase: "withdrawn", raisedAt, late: true, text });
    if (alert.phase === "raised") this.ended.push({ ruleKey, withdrawn: alert.id, time, foundAt: this.#now });
  }

  /** So much was found that no further report is for this commit. */
  get full(): boolean {
    return this.alerts.length >= fullAlerts || this.notices.length >= fullNotices;
  }

  /** What is written from now on is of another report. */
  begin(): void {
    this.#alertsFrom = this.alerts.length;
    this.#noticesFrom = this.notices.length;
  }

  /** Ends a report. What its alerts add to its location; undefined: none was raised. */
  end(): LocationAlerts | undefined {
    this.#tellLeftOut();
    let alerts: { name: string; text: string; critical: boolean }[] | undefined;
    for (let at = this.#alertsFrom; at < this.alerts.length; at++) {
      const alert = this.alerts[at];
      if (alert?.phase !== "raised") continue;
      alerts ??= [];
      alerts.push({ name: alert.name, text: alert.text, critical: alert.critical });
    }
    this.begin();
    return alerts && { alerts };
  }

  /** The report's last alert says what there is no room for. */
  #tellLeftOut(): void {
    const last = this.alerts.at(-1);
    const { alerts, notices } = this.#left;
    if (last === undefined || (alerts === 0 && notices === 0)) return;
    const text = `${last.text} (${wordsOf(this.#wording.language).leftOut(alerts, notices)})`;
    this.alerts[this.alerts.length - 1] = { ...last, text };
    this.#room.leftOut(this.#left);
    this.#left = { alerts: 0, notices: 0 };
  }

  #write(rule: CompiledRule, phase: AlertPhase, seen: Seen, time: number, facts: AlertFacts): Alert | undefined {
    if (this.alerts.length - this.#alertsFrom >= mostAlerts) {
      this.#left.alerts++;
      return undefined;
    }
    const { totals } = seen;
    const at = totals.anchor;
    const { key, id, name, type, critical } = rule.rule;
    const untold: Omit<Alert, "text"> = {
      id: this.#ids.uuid(),
      device: this.#device.key,
      ruleKey: key,
      ruleId: id,
      name,
      type,
      phase,
      time,
      raisedAt: this.#now,
      latitude: at?.latitude ?? null,
      longitude: at?.longitude ?? null,
      speed: speedOf(seen) ?? null,
      critical,
      late: time <= this.lateUntil,
      facts,
    };
    const mileage = this.#device.odometerStart + totals.odometerMm / 1_000_000;
    const alert = { ...untold, text: alertTextOf(untold, rule.rule.text, this.#device, mileage, this.#wording) };
    this.alerts.push(alert);
    return alert;
  }

  /** Makes the notices for people. The outbox decides how often a recipient is told the same thing. */
  #notify(rule: CompiledRule, alert: Alert): void {
    const { email, sms, webhook } = rule.rule.channels;
    for (const recipient of email) this.#queue(alert, { channel: "email", ...recipient }, null, 0);
    for (const recipient of sms) this.#queue(alert, { channel: "sms", ...recipient }, null, 0);
    for (const target of webhook) this.#queue(alert, { channel: "webhook", ...target }, null, 0);
  }

  /** An engine cut that comes hours after its cause, with a backlog, would be worse than none. */
  #command(rule: CompiledRule, alert: Alert, receivedAt: number): void {
    const suppressed = this.#whyNoCommand(alert, receivedAt);
    for (const command of rule.rule.commands)
      this.#queue(
        alert,
        { channel: "command", userKey: rule.rule.userKey, ...command },
        suppressed,
        command.delaySeconds * 1000,
      );
  }

  #whyNoCommand({ late, time }: Alert, receivedAt: number): string | null {
    if (this.#now - receivedAt > commandsForMs) return reasons.commandOld;
    // Reports that were sent together may arrive in another order.
    if (late && Math.abs(receivedAt - time) > commandsForMs) return reasons.commandLate;
    return Math.abs(receivedAt - time) > clockOffMs ? reasons.commandFar : null;
  }

  #queue(alert: Alert, target: NoticeTarget, suppressed: string | null, delayMs: number): void {
    const room = alert.critical ? this.#room.critical : this.#room.notices;
    if (this.notices.length - this.#noticesFrom >= mostNotices || this.notices.length >= room) {
      this.#left.notices++;
      return;
    }
    this.notices.push({
      id: this.#ids.uuid(),
      alertId: alert.id,
      device: this.#device.key,
      target,
      state: suppressed === null ? "queued" : "suppressed",
      reason: suppressed,
      creation: this.#now,
      dueAt: this.#now + delayMs,
    });
  }
}
