import type { AlertRuleFields, AlertTrigger } from "../../src/model/alert-rule.ts";
import { weekdays } from "../../src/model/alert-rule.ts";
import { createLog, systemIds } from "../../src/observe/index.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { cityRules, cityZone } from "./city.ts";

/** Puts zones and rules for devices into the account of a service that does not run. */
export async function fillRules(
  directory: string,
  devices: readonly string[],
  zones: number,
  rules: number,
): Promise<void> {
  const store = await openSqliteStore({ directory, log: createLog("silent"), pid: process.pid });
  try {
    const now = Date.now() - 30 * 86_400_000;
    const [account] = await store.accounts.list();
    if (account === undefined) throw new Error("the service has no account yet");
    const ids: string[] = [];
    for (let index = 0; index < zones; index++) {
      const id = systemIds.uuid();
      const fields = { name: `Zone ${index}`, description: null, zone: cityZone(index) };
      await store.geofences.create(account.key, id, fields, now);
      ids.push(id);
    }
    for (let index = 0; index < rules; index++) {
      const tens = Math.floor(index / 10);
      const trigger = cityRules(tens, ids)[index % 10];
      if (trigger === undefined) throw new Error(`there are no ${rules} rules`);
      const fields = ruleOf(trigger, index + tens, devices);
      await store.alertRules.create(account.key, 1, systemIds.uuid(), fields, now);
    }
  } finally {
    await store.close();
  }
}

/**
 * A rule for devices. By its number, one in five must hold for half a minute, one is in force by day only, and one has
 * a condition; each has a cooldown of two minutes. Nobody is told: sending is not measured.
 */
export function ruleOf(trigger: AlertTrigger, number: number, devices: readonly string[]): AlertRuleFields {
  const variant = number % 5;
  return {
    ...trigger,
    name: `Rule ${number}`,
    enabled: true,
    devices,
    groups: [],
    schedule: variant === 1 ? { days: weekdays, from: "07:00", to: "19:00", timeZone: null } : null,
    conditions: variant === 2 ? [{ attribute: "ignition", operator: "equal", value: true }] : [],
    hysteresis: { holdSeconds: variant === 3 ? 30 : 0, rearmAt: null, cooldownSeconds: 120 },
    channels: { email: [], sms: [], webhook: [] },
    commands: [],
    critical: variant === 4,
    text: null,
    notifyWhenOver: number % 4 === 0,
    notifyOnlyWhenOver: false,
  };
}
