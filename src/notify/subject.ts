import type { Account } from "../model/account.ts";
import type { Alert } from "../model/alert.ts";
import type { AlertRule, Recipient } from "../model/alert-rule.ts";
import type { Device, DeviceKey } from "../model/device.ts";
import { type Mute, mutedBy } from "../model/mute.ts";
import type { Notice } from "../model/notice.ts";
import type { Clock } from "../ports/clock.ts";
import type { Histories } from "../ports/history.ts";
import type { Log } from "../ports/log.ts";
import { type Store, StoreUnavailable } from "../ports/store.ts";
import type { Reader, Told } from "../wording/index.ts";

/** A notice with everything that it tells of, as it is now. */
export interface Subject {
  readonly notice: Notice;
  readonly alert: Alert;
  readonly device: Device;
  readonly account: Account;
  readonly rule: AlertRule;
  /** Mileage at the alert, km; undefined: it isn't known. */
  readonly mileage: number | undefined;
  /** Which mute suppresses the notice; undefined: none does. A mute suppresses no commands. */
  readonly muted: string | undefined;
}

/** Parts of the store that a subject is read from. */
export type SubjectStore = Pick<Store, "alerts" | "devices" | "accounts" | "alertRules" | "mutes">;

/**
 * What was found. `gone`: the device was deleted, and its notices with it · `suppressed`: the notice must not go out,
 * for that reason.
 */
export type Found =
  | { readonly subject: Subject }
  | { readonly suppressed: string; readonly device: Device; readonly account: Account }
  | "gone";

/** What is read for all notices of an alert. */
interface Facts {
  readonly alert: Alert | undefined;
  readonly device: Device;
  readonly account: Account;
  readonly rule: AlertRule | undefined;
  readonly mileage: number | undefined;
  readonly mutes: readonly Mute[];
}

/**
 * Reads what notices tell of. Those of one alert that are tried at the same time share the questions: a rule's 20
 * webhooks would ask a hundred.
 */
export class Subjects {
  readonly #store: SubjectStore;
  readonly #histories: Pick<Histories, "lastBefore">;
  readonly #log: Log;
  /**
   * Of alerts, by device and id, while they are read. What changes meanwhile is missed by a notice as it would be had
   * it asked itself a moment before.
   */
  readonly #underWay = new Map<string, Promise<Facts | undefined>>();

  constructor(store: SubjectStore, histories: Pick<Histories, "lastBefore">, log: Log) {
    this.#store = store;
    this.#histories = histories;
    this.#log = log;
  }

  /**
   * Reads what a notice tells of. A rule that was deleted tells nobody any more, and one that was disabled sends no
   * commands. An expired device is silent, but for the notice that says so.
   */
  async find(notice: Notice, clock: Pick<Clock, "now">): Promise<Found> {
    const facts = await this.#shared(notice);
    if (facts === undefined) return "gone";
    // Only now: reading may take long.
    const now = clock.now();
    const { alert, device, account, rule, mileage, mutes } = facts;
    const suppressed = (reason: string) => ({ suppressed: reason, device, account });
    if (alert === undefined) return suppressed("the alert was deleted");
    if (rule === undefined) return suppressed("the rule was deleted");
    if (notice.target.channel === "command" && !rule.enabled) return suppressed("the rule was disabled");
    if (device.expires !== null && now >= device.expires && alert.type !== "expired")
      return suppressed("the device has expired");
    const muted = notice.target.channel === "command" ? undefined : mutedBy(mutes, alert, now);
    return { subject: { notice, alert, device, account, rule, mileage, muted } };
  }

  #shared(notice: Notice): Promise<Facts | undefined> {
    const key = `${notice.device} ${notice.alertId}`;
    let reading = this.#underWay.get(key);
    if (reading === undefined) {
      reading = this.#read(notice).finally(() => this.#underWay.delete(key));
      this.#underWay.set(key, reading);
    }
    return reading;
  }

  /** Undefined: the device is gone. */
  async #read(notice: Notice): Promise<Facts | undefined> {
    const { alerts, devices, accounts, alertRules, mutes: muting } = this.#store;
    const alert = await alerts.find(notice.alertId);
    // Before everything that may change, because reading it may take long: a rule that is disabled meanwhile sends no
    // command, and a device that is removed or expires meanwhile is silent.
    const way = alert && (await this.#wayAt(alert, notice.device));
    const [device, rule, mutes] = await Promise.all([
      devices.findByKey(notice.device),
      alert && alertRules.find(alert.ruleId),
      alert === undefined ? [] : muting.some([{ device: notice.device }, { rule: alert.ruleId }]),
    ]);
    const account = device && (await accounts.find(device.accountKey));
    if (device === undefined || account === undefined) return undefined;
    return { alert, device, account, rule, mileage: way === undefined ? undefined : way + device.odometerStart, mutes };
  }

  /**
   * How far the device had travelled by the last record at or before the alert, km. Undefined when there is no such
   * record, or when it can't be read.
   */
  async #wayAt({ time }: Alert, device: DeviceKey): Promise<number | undefined> {
    try {
      const last = await this.#histories.lastBefore(device, time);
      return last && last.totals.odometerMm / 1e6;
    } catch (error) {
      if (error instanceof StoreUnavailable && error.trouble !== "damaged") throw error;
      // Damage does not go away. A notice that waited for the mileage would be tried each second for ever.
      this.#log.warn({ error, device }, "the mileage at an alert can't be read; the notice goes out without it");
      return undefined;
    }
  }
}

/** What its wording is made of. */
export function toldOf({ alert, device, rule, mileage }: Subject, map: string): Told {
  return {
    alert,
    device: { id: device.id, name: device.name },
    template: rule.text,
    map,
    ...(mileage !== undefined && { mileage }),
  };
}

/** Whom it is worded for: as the recipient wishes, else as the account has it. */
export function readerOf(account: Account, recipient?: Omit<Recipient, "to">): Reader {
  return {
    language: recipient?.language ?? account.language,
    timeZone: recipient?.timeZone ?? account.timeZone,
    units: recipient?.units ?? "metric",
  };
}
