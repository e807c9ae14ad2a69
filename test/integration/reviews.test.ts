import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Admitted } from "../../src/ports/intake.ts";
import { geofenceFields } from "../contract/store/alert-values.ts";
import { fix, mail, minute, RuleLane, start } from "../support/rule-lane.ts";

const speed = { type: "speedOver", parameters: { kmh: 80 } } as const;
const mailed = { channels: { email: [mail], sms: [], webhook: [] } } as const;

/** A lane whose rule finds speeding in the reports of a device. The device is slow at minutes 0 and 20. */
async function withSpeedRule(context: TestContext): Promise<readonly [RuleLane, Admitted]> {
  const lane = await RuleLane.open(context);
  lane.now = start + 100 * minute;
  await lane.rule(speed, mailed);
  const device = await lane.device("d");
  await lane.send(device, fix(0, 50), fix(20, 50));
  return [lane, device];
}

test("alerts of positions that were deleted since are neither withdrawn nor told again", async (context) => {
  const lane = await RuleLane.open(context);
  await lane.rule(speed, mailed);
  await lane.rule({ type: "mileage", parameters: { km: 1, repeat: true } }, mailed);
  const device = await lane.device("d");
  for (let at = 0; at < 5; at++) {
    lane.now = start + (at * 10 + 1) * minute;
    await lane.send(device, fix(at * 10, at % 2 === 0 ? 50 : 92), fix(at * 10 + 0.5, 50));
  }
  // The last episode begins before the deleted positions and goes on after them.
  const day = 1440;
  lane.now = start + 2 * day * minute;
  await lane.send(device, fix(60, 92), fix(80, 93), fix(day, 94), fix(2 * day, 95));
  const before = await lane.told(device);
  const notices = (await lane.notices(device)).length;
  assert.ok(before.includes("60 speedOver"), before.join());
  assert.equal(await lane.follower.keeping.deleteBefore(device.key, start + day * minute), 12);
  // Where it is known to have been.
  const at = (time: number) => ({ latitude: 4.6 + time / 10_000 });
  await lane.send(device, fix(day - 500, 94, at(80)), fix(day + 50, 94, at(day)));
  await lane.reviewed(device);
  assert.deepEqual(await lane.told(device), before);
  assert.equal((await lane.notices(device)).length, notices);
});

test("an alert of a late report has the place and the speed of that report", async (context) => {
  const [lane, device] = await withSpeedRule(context);
  await lane.send(device, fix(5, 92), fix(6, 50));
  await lane.reviewed(device);
  const [alert, ...others] = await lane.alerts(device);
  assert.deepEqual(others, []);
  assert.equal(alert?.late, true);
  assert.deepEqual([alert.latitude, alert.longitude, alert.speed], [4.6005, -74.1, 92]);
});

test("the last location has the alerts that its record has in the history", async (context) => {
  const [lane, device] = await withSpeedRule(context);
  const last = async () => {
    const { json } = await lane.follower.latest({ key: device.key, odometerStart: 0 });
    const { alerts, dateTime } = JSON.parse(json ?? "{}");
    return [alerts, dateTime];
  };
  const at = new Date(start + 30 * minute).toISOString();
  // Two records of one moment, of which the first is found to be too fast.
  const twice = new Date(start + 22 * minute).toISOString();
  await lane.send(device, fix(22, 92), fix(22, 50, { altitude: 5 }));
  assert.deepEqual(await last(), [["speedOver"], twice]);
  assert.deepEqual((await lane.locations(device)).at(-1)?.alerts, ["speedOver"]);
  await lane.send(device, fix(25, 92), fix(30, 93));
  assert.deepEqual(await last(), [[], at]);
  // It was slow in between.
  await lane.send(device, fix(27, 50));
  await lane.reviewed(device);
  assert.deepEqual(await last(), [["speedOver"], at]);
  // It was too fast a minute earlier than was known.
  await lane.send(device, fix(29, 94));
  await lane.reviewed(device);
  assert.deepEqual(await last(), [[], at]);
  assert.deepEqual((await lane.locations(device)).at(-1)?.alerts, []);
});

test("a rule that is deleted during a review tells nothing more, and what a new rule told is told once", async (context) => {
  const [lane, device] = await withSpeedRule(context);
  let changed = false;
  lane.disturb = async () => {
    if (changed) return;
    changed = true;
    await lane.deleteRules();
    await lane.rule({ type: "speedOver", parameters: { kmh: 60 } }, { ...mailed, name: "new" });
    lane.rulesChanged();
    await lane.send(device, fix(30, 70));
  };
  await lane.send(device, fix(5, 92), fix(6, 50));
  await lane.reviewed(device);
  await lane.send(device, fix(31, 72));
  assert.deepEqual(await lane.told(device), ["30 new"]);
  assert.equal((await lane.notices(device)).length, 1);
});

test("a device whose late records never stop holds up no other", async (context) => {
  const lane = await RuleLane.open(context);
  lane.now = start + 1000 * minute;
  await lane.rule(speed, { ...mailed, devices: ["d", "e"] });
  const [restless, other] = [await lane.device("d"), await lane.device("e")];
  const reads: number[] = [];
  let late = 0;
  lane.disturb = async (device) => {
    reads.push(device);
    if (device === restless.key && late < 50) await lane.send(restless, fix(101 + late++, 92));
  };
  for (const device of [restless, other]) await lane.send(device, fix(0, 50), fix(200, 50));
  await Promise.all([restless, other].map((device) => lane.send(device, fix(100, 92))));
  await lane.reviewed(other);
  assert.ok(reads.indexOf(other.key) <= 2, `the other device had its turn after ${reads.indexOf(other.key)} reads`);
  assert.deepEqual(await lane.told(other), ["100 speedOver late"]);
  late = 50;
  await lane.reviewed(restless);
  assert.deepEqual(await lane.told(restless), ["100 speedOver late"]);
});

test("a device that was deleted waits for no review", async (context) => {
  const [lane, device] = await withSpeedRule(context);
  await lane.send(device, fix(5, 92));
  await lane.follower.head(device.key);
  assert.equal(lane.follower.behind, 1);
  await lane.store.devices.remove(device.key);
  lane.bus.publish({ type: "deviceChanged", ...device });
  while (lane.follower.behind > 0) await sleep(20);
});

test("the events of a zone are not told again under its new name", async (context) => {
  const lane = await RuleLane.open(context);
  lane.now = start + 100 * minute;
  const zone = { kind: "circle", center: [-74.1, 4.6], radius: 1 } as const;
  const [account] = await lane.store.accounts.list();
  assert.ok(account);
  const { geofences } = lane.store;
  const port = await geofences.create(account.key, "zone-id", { ...geofenceFields(), name: "port", zone }, start);
  await lane.rule({ type: "controlZone", parameters: { zones: [port.id] } }, mailed);
  const device = await lane.device("d");
  const away = { latitude: 4.7 };
  await lane.send(device, fix(0, 50, away), fix(20, 50, { latitude: 4.6 }), fix(40, 50, away), fix(60, 50, away));
  const before = await lane.told(device);
  assert.equal(before.length, 2);
  await geofences.replace(port.key, { ...geofenceFields(), name: "harbour", zone }, start);
  lane.rulesChanged();
  await lane.send(device, fix(5, 50, away));
  await lane.reviewed(device);
  assert.deepEqual(await lane.told(device), before);
});

test("what time alone made true before a backlog came is told once", async (context) => {
  const lane = await RuleLane.open(context);
  lane.now = start + minute;
  await lane.rule({ type: "inputActiveFor", parameters: { input: 1, minutes: 10 } }, mailed);
  const device = await lane.device("d");
  const on = { readings: { input1: true } };
  await lane.send(device, fix(0, 50, on));
  lane.now = start + 15 * minute;
  while ((await lane.told(device)).length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(await lane.told(device), ["10 inputActiveFor"]);
  await lane.send(device, fix(4, 50, on));
  await lane.send(device, fix(2, 50, on));
  await lane.reviewed(device);
  await lane.send(device, fix(14, 50, on));
  assert.deepEqual(await lane.told(device), ["10 inputActiveFor"]);
  assert.equal((await lane.notices(device)).length, 1);
});

test("a review during which the rules change begins anew", async (context) => {
  const [lane, device] = await withSpeedRule(context);
  let changes = 0;
  lane.disturb = async () => {
    if (changes++ >= 3) return;
    await lane.rule({ type: "sos", parameters: {} });
    lane.rulesChanged();
  };
  await lane.send(device, fix(5, 92), fix(6, 50));
  await lane.reviewed(device);
  assert.equal(changes, 4);
  assert.deepEqual(await lane.told(device), ["5 speedOver late"]);
});

test("what a device reports during its review is judged behind it", async (context) => {
  const [lane, device] = await withSpeedRule(context);
  let reports = 0;
  lane.disturb = async () => {
    if (reports++ === 0) await lane.send(device, fix(21, 50), fix(22, 93));
  };
  await lane.send(device, fix(5, 92), fix(6, 50));
  await lane.reviewed(device);
  assert.deepEqual(await lane.told(device), ["5 speedOver late", "22 speedOver"]);
});

test("shortly after a start, late records are reviewed, and time alone makes nothing true", async (context) => {
  const lane = await RuleLane.open(context);
  lane.now = start + 20 * minute;
  await lane.rule({ type: "sos", parameters: {} }, mailed);
  await lane.rule({ type: "inputActiveFor", parameters: { input: 1, minutes: 30 } }, mailed);
  let device = await lane.device("d");
  await lane.send(device, fix(20, 50, { readings: { input1: true } }));
  assert.deepEqual(await lane.told(device), []);
  await lane.close();
  lane.now = start + 60 * minute;
  await lane.start(minute);
  device = await lane.admit("d");
  await lane.send(device, fix(5, 50, { alarms: ["sos"] }));
  await lane.reviewed(device);
  assert.ok(lane.now < start + 61 * minute, "within the minute");
  assert.deepEqual(await lane.told(device), ["5 sos late"]);
  lane.now = start + 62 * minute;
  while ((await lane.told(device)).length < 2) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(await lane.told(device), ["5 sos late", "50 inputActiveFor"]);
});

test("a late moment between two told ones is told", async (context) => {
  const lane = await RuleLane.open(context);
  lane.now = start + 100 * minute;
  await lane.rule({ type: "sos", parameters: {} }, mailed);
  await lane.rule({ type: "alarm", parameters: { alarms: ["accident", "tow"] } }, mailed);
  const device = await lane.device("d");
  await lane.send(
    device,
    fix(10, 50, { alarms: ["sos", "tow"] }),
    fix(12, 50),
    fix(20, 50, { alarms: ["sos", "tow"] }),
  );
  await lane.send(device, fix(15, 50, { alarms: ["sos", "accident"] }));
  await lane.reviewed(device);
  const told = await lane.told(device);
  assert.deepEqual(told.toSorted(), ["10 alarm", "10 sos", "15 alarm late", "15 sos late", "20 alarm", "20 sos"]);
  assert.equal((await lane.notices(device)).length, 6);
});

test("what the API rounds is judged as it was said, live, late and tried", async (context) => {
  const lane = await RuleLane.open(context);
  lane.now = start + 100 * minute;
  const rule = { type: "lowBattery", parameters: { percent: 20 } } as const;
  await lane.rule(rule);
  const reports = [50, 19.6, 19.7, 60].map((battery, at) => fix(at, 50, { readings: { battery } }));
  for (const [id, order] of [
    ["in-order", reports],
    ["d", reports.toReversed()],
  ] as const) {
    await lane.deleteRules();
    await lane.rule(rule, { devices: [id] });
    lane.rulesChanged();
    const device = await lane.device(id);
    for (const report of order) await lane.send(device, report);
    await lane.reviewed(device);
    const raised = (await lane.alerts(device)).filter(({ phase }) => phase === "raised");
    assert.deepEqual(
      raised.map(({ time, facts }) => [time, facts.value]),
      [[start + minute, 19.6]],
      id,
    );
    const [stored] = await lane.alerts(device);
    assert.ok(stored);
    assert.equal((await lane.locations(device))[1]?.battery, 20);
  }
});

test("a device whose reports are refused is not offline", async (context) => {
  const lane = await RuleLane.open(context);
  await lane.rule({ type: "offline", parameters: { minutes: 10 } }, mailed);
  const device = await lane.device("d");
  const other = await lane.device("e");
  await lane.rule({ type: "offline", parameters: { minutes: 10 } }, { ...mailed, devices: ["e"] });
  lane.rulesChanged();
  await lane.send(device, fix(0, 50));
  await lane.send(other, fix(0, 50));
  await new Promise((resolve) => setTimeout(resolve, 1500));
  for (let at = 4; at <= 12; at += 4) {
    lane.now = start + at * minute;
    // A clock that was never set.
    await lane.send(device, fix(0, 50, { time: Date.UTC(1999, 0, 1) }));
  }
  while ((await lane.told(other)).length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(await lane.told(device), []);
});

test("a device that was heard before a restart, without a report, is not offline after the restart", async (context) => {
  const lane = await RuleLane.open(context);
  await lane.rule({ type: "offline", parameters: { minutes: 10 } }, mailed);
  let device = await lane.device("d");
  await lane.send(device, fix(0, 50));
  const passed = () => new Promise((resolve) => setTimeout(resolve, 1500));
  await passed();
  lane.now = start + 9 * minute;
  lane.ingest.heard(device, lane.now);
  await lane.restart(minute);
  device = await lane.admit("d");
  lane.now = start + 11 * minute;
  await passed();
  assert.deepEqual(await lane.told(device), []);
  lane.ingest.heard(device, lane.now);
  lane.now = start + 25 * minute;
  while ((await lane.told(device)).length === 0) await passed();
  assert.deepEqual(await lane.told(device), ["21 offline"]);
});
