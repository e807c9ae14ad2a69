import { noSums } from "../../src/fold/days.ts";
import { createLog, systemIds } from "../../src/observe/index.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";

const types = ["speedOver", "sos", "forbiddenZone", "idling"] as const;
/** Alerts of one commit. */
const atOnce = 1000;

/** Puts alerts of a year, of devices in turn, into the account of a service that does not run. */
export async function fillAlerts(directory: string, devices: readonly string[], alerts: number): Promise<void> {
  const store = await openSqliteStore({ directory, log: createLog("silent"), pid: process.pid });
  try {
    const [account] = await store.accounts.list();
    const found = await store.devices.some(account?.key ?? 0, devices, 0);
    const stepMs = (365 * 86_400_000) / alerts;
    const begin = Date.now() - 365 * 86_400_000;
    for (let at = 0; at < alerts; at += atOnce) {
      const device = found[(at / atOnce) % found.length];
      if (device === undefined) throw new Error("the service has no devices yet");
      // It never reported.
      const head = { sumsBefore: noSums, late: [] };
      const made = Array.from({ length: Math.min(atOnce, alerts - at) }, (_, index) => {
        const number = at + index;
        const time = Math.round(begin + number * stepMs);
        return {
          ...{
            id: systemIds.uuid(),
            device: device.key,
            ruleKey: number % 50,
            ruleId: `rule-${number % 50}`,
            name: "Speed",
          },
          ...{ type: types[number % types.length] ?? "sos", phase: "raised" as const, time, raisedAt: time },
          ...{ latitude: 4.7, longitude: -74.1, speed: 92, critical: number % 1000 === 0, late: number % 10 === 0 },
          ...{ facts: { value: 92, limit: 80 }, text: "Speed 92 km/h over the limit of 80" },
        };
      });
      await store.follow.commit([{ device: device.key, head, days: [], alerts: made }]);
    }
    // Most were seen to long ago.
    await store.alerts.closeOld(Date.now() - 7 * 86_400_000, alerts, Date.now());
  } finally {
    await store.close();
  }
}
