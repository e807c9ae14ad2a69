import type { Alert } from "../contract/alert.ts";
import { formatInstant } from "../contract/time.ts";
import type { AlertAct, AlertHandling } from "../model/alert.ts";
import type { DeviceKey } from "../model/device.ts";
import type { NoticeChannel } from "../model/notice.ts";
import type { AlertStore, StoredAlert } from "../ports/alert-store.ts";
import type { HistoryChunk } from "../ports/history.ts";
import type { PositionPlace } from "../ports/positions.ts";

/** Alerts of one step: some 300 KB of JSON. */
const stepAlerts = 500;

/**
 * What is asked of a device's alerts, as of its locations: an alert's place is its time and, in place of the number,
 * its key.
 */
export interface AlertsRange {
  readonly from: number;
  readonly to: number;
  readonly after?: PositionPlace;
  readonly limit: number;
  /** Only those of the alert of this name. */
  readonly name?: string;
}

/** The alerts of a device, by time, as the JSON objects of the API's Alert, in chunks of bounded size. */
export async function* readAlerts(
  alerts: Pick<AlertStore, "list">,
  device: DeviceKey,
  { after, limit, ...range }: AlertsRange,
): AsyncGenerator<HistoryChunk, void, undefined> {
  let place = after && { time: after.time, key: after.nth };
  for (let left = limit; left > 0; ) {
    const most = Math.min(left, stepAlerts);
    const found = await alerts.list(device, { ...range, ...(place && { after: place }), limit: most });
    const last = found.at(-1);
    if (last === undefined) return;
    const json = found.map((alert) => JSON.stringify(alertView(alert))).join(",");
    yield { json: Buffer.from(json), count: found.length, last: { time: last.time, nth: last.key } };
    if (found.length < most) return;
    left -= found.length;
    place = { time: last.time, key: last.key };
  }
}

/** The API's names of the channels by which people and programs are told. A command tells nobody. */
export const channelNames: Readonly<Partial<Record<NoticeChannel, string>>> = {
  email: "Email",
  sms: "SMS",
  webhook: "Webhook",
};

/** An alert as the API shows it. */
export function alertView(
  alert: Omit<StoredAlert, "key" | "handling"> & Partial<Pick<StoredAlert, "handling">>,
): Alert {
  const { latitude, longitude, handling } = alert;
  return {
    dateTime: formatInstant(alert.time),
    ...(latitude !== null && longitude !== null && { latitude, longitude }),
    text: alert.text,
    notifications: alert.channels.flatMap((channel) => channelNames[channel] ?? []),
    alerts: [alert.name],
    id: alert.id,
    ruleId: alert.ruleId,
    type: alert.type,
    phase: alert.phase,
    critical: alert.critical,
    late: alert.late,
    raisedAt: formatInstant(alert.raisedAt),
    facts: { ...alert.facts },
    ...(handling !== undefined && handlingView(handling)),
  };
}

function handlingView({ state, endedAt, acknowledged, closed }: AlertHandling) {
  return {
    state,
    ...(endedAt !== null && { endedAt: formatInstant(endedAt) }),
    ...(acknowledged !== null && { acknowledgement: actView(acknowledged) }),
    ...(closed !== null && { closing: actView(closed) }),
  };
}

function actView({ at, user, note }: AlertAct) {
  return { dateTime: formatInstant(at), user, note };
}
