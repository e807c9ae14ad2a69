// The alert engine with devices that report nothing but that they are there, each once in 50 seconds, by the real
// clock. Arguments: devices, seconds measured. Answers the processor's time, ms, without any rule and with one that
// calls a device offline after a minute, so that each timer is looked at as often as it can be; and how many devices
// were told due, which should be none.

import { RuleEngine } from "../../src/alerts/index.ts";
import { createMemoryBus } from "../../src/bus/memory.ts";
import type { AlertRule } from "../../src/model/alert-rule.ts";
import type { Device } from "../../src/model/device.ts";
import { noIdentityRules } from "../../src/model/device.ts";
import { noTotals } from "../../src/model/location.ts";
import type { Standing } from "../../src/model/standing.ts";
import { createLog, createMetrics, systemClock, systemIds } from "../../src/observe/index.ts";
import { Alone } from "../../src/store/sqlite/alone.ts";
import { ruleOf } from "./fill-rules.ts";

const [count = 0, seconds = 0] = process.argv.slice(2).map(Number);
const heardEveryMs = 50_000;
/** Long enough for the collector to have done what building left behind. */
const settleMs = 5000;
/** Heartbeats come in ten times a second. */
const beatMs = 100;
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const devices = Array.from({ length: count }, (_, index): Device => {
  const id = `device-${index}`;
  const none = { aliases: [], description: null, min: null, tags: {}, expires: null };
  const limits = {
    dailyEmailLimit: 0,
    dailySmsLimit: 0,
    odometerStart: 0,
    identity: noIdentityRules,
    positionDays: null,
    timeOffset: 0,
    speedUnit: null,
  };
  return { key: index + 1, accountKey: 1, id, name: id, ...none, ...limits, spoken: [], creation: 0, modification: 0 };
});

/** As it would be had the device been heard of when it was its turn before now. */
function standingOf(key: number): Standing {
  const time = Date.now() - heardEveryMs + ((key - 1) % (heardEveryMs / beatMs)) * beatMs;
  return { time, totals: noTotals, receivedAt: time };
}

async function measure(rules: readonly AlertRule[]): Promise<{ readonly cpuMs: number; readonly told: number }> {
  let told = 0;
  const metrics = createMetrics({ processMetrics: false });
  const engine = new RuleEngine({
    alertRules: { list: async () => rules, accounts: async () => [1] },
    geofences: { some: async () => [] },
    groups: { some: async () => [] },
    accounts: { find: async () => undefined },
    devices: { list: async () => devices },
    standings: async (keys) => keys.map(standingOf),
    processes: new Alone(),
    bus: createMemoryBus((error) => process.stderr.write(`${error}\n`)),
    clock: systemClock,
    ids: systemIds,
    log: createLog("warn"),
    metrics,
    graceMs: 0,
    noticesPerMinute: 6000,
    onDue: (due) => {
      told += due.length;
    },
  });
  engine.start();
  const timers = rules.length === 0 ? 0 : count;
  while (!(await metrics.text()).includes(`waybeam_alert_timers ${timers}\n`)) await sleep(beatMs);
  let turn = 0;
  const beats = setInterval(() => {
    const now = Date.now();
    for (let key = (turn++ % (heardEveryMs / beatMs)) + 1; key <= count; key += heardEveryMs / beatMs)
      engine.heard(key, now);
  }, beatMs);
  await sleep(settleMs);
  const before = process.cpuUsage();
  await sleep(seconds * 1000);
  const { user, system } = process.cpuUsage(before);
  clearInterval(beats);
  await engine.stop();
  return { cpuMs: (user + system) / 1000, told };
}

const rule: AlertRule = {
  ...ruleOf(
    { type: "offline", parameters: { minutes: 1 } },
    0,
    devices.map(({ id }) => id),
  ),
  key: 1,
  id: "rule",
  accountKey: 1,
  revision: 1,
  userKey: 1,
  creation: 0,
  modification: 0,
};
process.send?.({ without: await measure([]), watched: await measure([rule]) });
process.disconnect?.();
