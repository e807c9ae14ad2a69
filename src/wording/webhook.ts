import { type Told, toldText } from "./notice.ts";
import type { Reader } from "./show.ts";

/** What a call of a webhook is about. */
export type WebhookType = "alert.raised" | "alert.over";

/** A notice as the body of a webhook's call. */
export interface WebhookWords {
  readonly type: WebhookType;
  /** JSON. */
  readonly body: string;
}

/**
 * Words a notice for a program: `id` is the alert's, moments are RFC 3339 in UTC, numbers have the units of the API,
 * `text` is for people.
 */
export function webhookOf(told: Told, reader: Reader): WebhookWords {
  const { alert, device, mileage } = told;
  const { latitude, longitude } = alert;
  const type = alert.phase === "raised" ? "alert.raised" : "alert.over";
  const body = JSON.stringify({
    id: alert.id,
    type,
    dateTime: new Date(alert.time).toISOString(),
    raisedAt: new Date(alert.raisedAt).toISOString(),
    late: alert.late,
    critical: alert.critical,
    device: { id: device.id, name: device.name },
    rule: { id: alert.ruleId, name: alert.name, type: alert.type },
    position:
      latitude === null || longitude === null
        ? null
        : { latitude, longitude, ...(alert.speed !== null && { speed: alert.speed }) },
    ...(mileage !== undefined && { milleage: mileage }),
    facts: alert.facts,
    text: toldText(told, reader),
  });
  return { type, body };
}
