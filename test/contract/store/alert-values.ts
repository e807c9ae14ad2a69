import type { Alert, AlertEnd } from "../../../src/model/alert.ts";
import type { AlertCommand, AlertRuleFields, Recipient, WebhookTarget } from "../../../src/model/alert-rule.ts";
import type { DeviceKey } from "../../../src/model/device.ts";
import type { NewNotice, Notice, NoticeTarget } from "../../../src/model/notice.ts";
import type { GeofenceFields } from "../../../src/ports/alert-store.ts";
import type { Store } from "../../../src/ports/store.ts";
import { emptyHead } from "./followed.ts";
import { now, unique } from "./harness.ts";

export function ruleFields(changes: Partial<Omit<AlertRuleFields, "type" | "parameters">> = {}): AlertRuleFields {
  return {
    type: "speedOver",
    parameters: { kmh: 80 },
    name: unique("rule "),
    enabled: true,
    devices: ["d"],
    groups: [],
    schedule: null,
    conditions: [],
    hysteresis: { holdSeconds: 0, rearmAt: null, cooldownSeconds: 0 },
    channels: { email: [], sms: [], webhook: [] },
    commands: [],
    critical: false,
    text: null,
    notifyWhenOver: false,
    notifyOnlyWhenOver: false,
    ...changes,
  };
}

export function geofenceFields(changes: Partial<GeofenceFields> = {}): GeofenceFields {
  return {
    name: unique("zone "),
    description: null,
    zone: { kind: "circle", center: [-74.1, 4.6], radius: 1.5 },
    ...changes,
  };
}

/** An alert that a fix at a second raised. */
export function newAlert(device: DeviceKey, seconds: number, changes: Partial<Alert> = {}): Alert {
  return {
    id: unique("alert-"),
    device,
    ruleKey: 1,
    ruleId: "rule-1",
    name: "Speed",
    type: "speedOver",
    phase: "raised",
    time: now + seconds * 1000,
    raisedAt: now + seconds * 1000 + 800,
    latitude: 4.5,
    longitude: -74.1,
    speed: 92,
    critical: false,
    late: false,
    // What tells it from others of its rule at the same moment.
    facts: { value: 92, limit: 80, event: unique("event ") },
    text: "Speed 92 km/h over the limit of 80",
    ...changes,
  };
}

export const person: Recipient = { to: "ana@example.org", language: null, timeZone: null, units: "metric" };
export const target: WebhookTarget = { url: "https://example.org/hook", secret: "0123456789abcdef" };
export const order: AlertCommand = {
  command: "stop\n☂",
  format: "Text",
  sms: false,
  encode: true,
  delaySeconds: 5,
};

export const email: NoticeTarget = { ...person, channel: "email" };
export const sms: NoticeTarget = { ...person, channel: "sms", to: "+573001112233" };
export const webhook: NoticeTarget = { ...target, channel: "webhook" };
export const command: NoticeTarget = { ...order, channel: "command", userKey: 2 ** 40 };

export function newNotice(alert: Alert, changes: Partial<NewNotice> = {}): NewNotice {
  return {
    id: unique("notice-"),
    alertId: alert.id,
    device: alert.device,
    target: email,
    state: "queued",
    reason: null,
    creation: now,
    dueAt: now,
    ...changes,
  };
}

/** A notice as it is stored before its first try. */
export function asStored(notice: NewNotice, account: number, key: number): Notice {
  const finishedAt = notice.state === "suppressed" ? notice.creation : null;
  return { ...notice, account, key, attempts: 0, finishedAt, peerId: null, countedDay: null };
}

/** Commits what rules found of a device. */
export async function commitAlerts(
  store: Pick<Store, "follow">,
  device: DeviceKey,
  alerts: readonly Alert[],
  notices: readonly NewNotice[] = [],
  ended: readonly AlertEnd[] = [],
): Promise<void> {
  const [head = emptyHead] = await store.follow.heads([device]);
  await store.follow.commit([{ device, head, days: [], alerts, notices, ended }]);
}

/** One queued notice of an alert of its own; as it is stored. */
export async function makeNotice(store: Store, device: DeviceKey, changes: Partial<NewNotice> = {}): Promise<Notice> {
  const alert = newAlert(device, 1);
  const notice = newNotice(alert, changes);
  await commitAlerts(store, device, [alert], [notice]);
  const found = await store.notices.find(device, notice.id);
  if (found === undefined) throw new Error("the notice was not made");
  return found;
}
