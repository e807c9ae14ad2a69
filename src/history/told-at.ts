import { type LocationAlerts, standingAlerts } from "../model/alert.ts";
import type { DeviceKey } from "../model/device.ts";
import type { AlertKey, AlertStore, StoredAlert } from "../ports/alert-store.ts";

/** Alerts of one question. */
const pageAlerts = 500;

/** What rules found at the records of a span of event time, by the record's time. What was withdrawn is left out. */
export async function toldAt(
  alerts: Pick<AlertStore, "list">,
  device: DeviceKey,
  from: number,
  to: number,
): Promise<ReadonlyMap<number, LocationAlerts>> {
  const found: StoredAlert[] = [];
  for (let after: AlertKey | undefined; ; ) {
    const page = await alerts.list(device, { from, to, limit: pageAlerts, ...(after && { after }) });
    found.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < pageAlerts) break;
    after = { time: last.time, key: last.key };
  }
  const told = new Map<number, { name: string; text: string; critical: boolean }[]>();
  for (const { phase, time, name, text, critical } of standingAlerts(found)) {
    if (phase !== "raised") continue;
    const own = told.get(time) ?? [];
    own.push({ name, text, critical });
    told.set(time, own);
  }
  return new Map([...told].map(([time, own]) => [time, { alerts: own }]));
}
