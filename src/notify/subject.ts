import type { Account } from "../model/account.ts";
import type { Alert } from "../model/alert.ts";
import type { AlertRule, Recipient } from "../model/alert-rule.ts";
import type { Device } from "../model/device.ts";
import { placeBehind } from "../model/location.ts";
import type { Notice } from "../model/notice.ts";
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
}

/** Parts of the store that a subject is read from. */
export type SubjectStore = Pick<Store, "alerts" | "devices" | "accounts" | "alertRules" | "locations">;

/** What was found. `gone`: the device was deleted, and its notices with it · `suppressed`: the notice must not go out, for that reason. */
export type Found =
  | { readonly subject: Subject }
  | { readonly suppressed: string; readonly device: Device; readonly account: Account }
  | "gone";

/**
 * Reads what a notice tells of. A rule that was deleted tells nobody any more, and one that was disabled sends no commands. An expired device is silent, but
 * for the notice that says so.
 */
export async function findSubject(store: SubjectStore, notice: Notice, now: number, log: Log): Promise<Found> {
  const [alert, device] = await Promise.all([
    store.alerts.find(notice.alertId),
    store.devices.findByKey(notice.device),
  ]);
  const account = device && (await store.accounts.find(device.accountKey));
  if (device === undefined || account === undefined) return "gone";
  const suppressed = (reason: string) => ({ suppressed: reason, device, account });
  if (alert === undefined) return suppressed("the alert was deleted");
  const rule = await store.alertRules.find(alert.ruleId);
  if (rule === undefined) return suppressed("the rule was deleted");
  if (notice.target.channel === "command" && !rule.enabled) return suppressed("the rule was disabled");
  if (device.expires !== null && now >= device.expires && alert.type !== "expired")
    return suppressed("the device has expired");
  return { subject: { notice, alert, device, account, rule, mileage: await mileageAt(store, alert, device, log) } };
}

/** The mileage of the last record at or before the alert. Undefined when there is none, or when it can't be read. */
async function mileageAt(store: SubjectStore, { time }: Alert, device: Device, log: Log): Promise<number | undefined> {
  try {
    const { before } = await store.locations.context(device.key, placeBehind(time), 0);
    return before && before.totals.odometerMm / 1e6 + device.odometerStart;
  } catch (error) {
    if (error instanceof StoreUnavailable && error.trouble !== "damaged") throw error;
    // Damage does not go away. A notice that waited for the mileage would be tried each second for ever.
    log.warn({ error, device: device.id }, "the mileage at an alert can't be read; the notice goes out without it");
    return undefined;
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
export function readerOf(account: Account, recipient?: Recipient): Reader {
  return {
    language: recipient?.language ?? account.language,
    timeZone: recipient?.timeZone ?? account.timeZone,
    units: recipient?.units ?? "metric",
  };
}
