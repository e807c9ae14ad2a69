import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Fix } from "../../src/model/effects.ts";
import { acts, packetsOf, storyBegins, storyOf, storyRules, storyZones, ways } from "../support/alert-stories.ts";
import { chance } from "../support/chance.ts";
import { fix, RuleLane as Lane, mail, minute, start } from "../support/rule-lane.ts";
import { compareNotices, compareTold } from "../support/told-and-tried.ts";

test("a rule's alert, its notices and its location's fields are committed with the fix that caused them", async (context) => {
  const lane = await Lane.open(context);
  await lane.rule(
    { type: "speedOver", parameters: { kmh: 80 } },
    { critical: true, channels: { email: [mail, { ...mail, to: "two@example.org" }], sms: [], webhook: [] } },
  );
  const device = await lane.device("d");
  const other = await lane.device("e");
  assert.equal(await lane.send(device, fix(0, 50), fix(1, 92), fix(2, 95), fix(3, 60)), "stored");
  assert.equal(await lane.send(other, fix(1, 92)), "stored");

  const [alert, ...more] = await lane.alerts(device);
  assert.equal(alert?.text, "Speed 92 km/h over the limit of 80");
  assert.deepEqual(more, []);
  assert.deepEqual(await lane.alerts(other), []);
  const notices = await lane.store.notices.list(device.key, { limit: 10 });
  assert.deepEqual(
    notices.map(({ target, state, alertId }) => [target.channel, state, alertId]),
    [
      ["email", "queued", alert.id],
      ["email", "queued", alert.id],
    ],
  );
  assert.deepEqual(
    (await lane.locations(device)).map(({ alerts, alertTexts, hasCriticalAlert }) => [
      alerts,
      alertTexts,
      hasCriticalAlert,
    ]),
    [
      [[], [], false],
      [["speedOver"], ["Speed 92 km/h over the limit of 80"], true],
      [[], [], false],
      [[], [], false],
    ],
  );
});

test("a repeat, a restart and a late neighbour raise nothing again; a late episode that nobody saw is marked late", async (context) => {
  const lane = await Lane.open(context);
  lane.now = start + 50 * minute;
  await lane.rule(
    { type: "speedOver", parameters: { kmh: 80 } },
    { channels: { email: [mail], sms: [], webhook: [] } },
  );
  let device = await lane.device("d");
  await lane.send(device, fix(0, 50), fix(10, 92), fix(20, 95));
  await lane.send(device, fix(10, 92));
  await lane.restart();
  device = await lane.admit("d");
  await lane.send(device, fix(10, 92), fix(30, 97));
  assert.deepEqual(await lane.told(device), ["10 speedOver"]);
  await lane.send(device, fix(15, 91), fix(9, 99));
  await lane.reviewed(device);
  assert.deepEqual(await lane.told(device), ["9 speedOver late"]);
  assert.equal((await lane.notices(device)).length, 1);
  await lane.send(device, fix(2, 40), fix(4, 90), fix(5, 91), fix(6, 40));
  // Not all of it may be followed by then.
  await lane.restart();
  device = await lane.admit("d");
  await lane.send(device, fix(30, 97));
  await lane.reviewed(device);
  assert.deepEqual(await lane.told(device), ["4 speedOver late", "9 speedOver late"]);
  assert.equal((await lane.notices(device)).length, 2);
  await lane.send(device, fix(4, 90), fix(40, 30), fix(41, 90));
  assert.deepEqual(await lane.told(device), ["4 speedOver late", "9 speedOver late", "41 speedOver"]);
});

test("what the tracker itself reports is a warning of the location, with or without a rule", async (context) => {
  const lane = await Lane.open(context);
  const device = await lane.device("d");
  await lane.send(device, fix(0, 0, { alarms: ["sos", "powerCut"] }));
  const [location] = await lane.locations(device);
  assert.deepEqual(location?.warnings, ["sos", "powerCut"]);
  assert.deepEqual(location?.warningTexts, ["SOS button pressed", "Disconnected from the vehicle's power"]);
  assert.deepEqual([location?.alerts, location?.hasCriticalAlert], [[], false]);
});

test("time alone raises an alert at its moment, once, also across a restart", async (context) => {
  const lane = await Lane.open(context);
  await lane.rule({ type: "offline", parameters: { minutes: 30 } });
  await lane.rule({ type: "notMoving", parameters: { minutes: 60 } });
  let device = await lane.device("d");
  await lane.send(device, fix(0, 0));
  lane.now = start + 29 * minute;
  await lane.restart();
  device = await lane.admit("d");
  lane.now = start + 31 * minute;
  await until(async () => (await lane.told(device)).length === 1);
  assert.deepEqual(await lane.told(device), ["30 offline"]);
  await lane.restart();
  device = await lane.admit("d");
  lane.now = start + 61 * minute;
  await until(async () => (await lane.told(device)).length === 2);
  assert.deepEqual(await lane.told(device), ["30 offline", "60 notMoving"]);
  lane.now = start + 62 * minute;
  await lane.send(device, fix(62, 50));
  lane.now = start + 93 * minute;
  await until(async () => (await lane.told(device)).length === 3);
  assert.deepEqual(await lane.told(device), ["30 offline", "60 notMoving", "92 offline"]);
});

test("however a story's fixes are cut into batches, and with restarts between, the same alerts are raised", async (context) => {
  const lane = await Lane.open(context);
  lane.now = start + 50 * minute;
  let round = 0;
  const story = fc.array(fc.tuple(fc.constantFrom(10, 70, 85, 120), fc.boolean()), { minLength: 1, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(story, fc.boolean(), async (steps, withRestart) => {
      const id = `story-${round++}`;
      const rule = { type: "speedOver", parameters: { kmh: 80 } } as const;
      await lane.rule(rule, { devices: [id, `${id}b`] });
      if (withRestart) await lane.restart();
      const one = await lane.device(id);
      const whole = await lane.device(`${id}b`);
      const fixes = steps.map(([speed], index) => fix(index, speed));
      let batch: Fix[] = [];
      for (const [index, next] of fixes.entries()) {
        batch.push(next);
        if (steps[index]?.[1]) {
          await lane.send(one, ...batch);
          batch = [];
        }
      }
      await lane.send(one, ...batch);
      await lane.send(whole, ...fixes);
      assert.deepEqual(await lane.told(one), await lane.told(whole));
    }),
    { numRuns: 15 },
  );
});

test("what was told of a story is what a trial tells of it, in whatever order it came, with restarts and kills between", async (context) => {
  const lane = await Lane.open(context);
  lane.now = storyBegins + 30 * 86_400_000;
  const [account] = await lane.store.accounts.list();
  assert.ok(account);
  for (const [id, zone] of Object.entries(storyZones))
    await lane.store.geofences.create(account.key, id, { name: id, description: null, zone }, start);
  const scene = fc.record({ act: fc.constantFrom(...acts), reports: fc.integer({ min: 1, max: 40 }) });
  const cases = fc.record({
    scenes: fc.array(scene, { minLength: 3, maxLength: 10 }),
    seed: fc.integer(),
    way: fc.constantFrom(...ways),
  });
  let round = 0;
  await fc.assert(
    fc.asyncProperty(cases, async ({ scenes, seed, way }) => {
      const id = `told-${round++}`;
      for (const rule of storyRules)
        await lane.store.alertRules.create(account.key, 1, `${id}-${rule.key}`, { ...rule, devices: [id] }, start);
      // Rules that nobody told of are read again after a minute.
      await lane.restart();
      const random = chance(seed);
      const story = storyOf(scenes, random);
      let device = await lane.device(id);
      for (const packet of packetsOf(story, way, random)) {
        await lane.send(device, ...packet);
        if (random() < 0.1) await lane.reviewed(device);
        if (random() > 0.1) continue;
        if (random() < 0.5) await lane.restart();
        else await lane.crash();
        device = await lane.admit(id);
      }
      await lane.reviewed(device);
      // What time alone does after the last report depends on when it is looked.
      const to = story.at(-1)?.time ?? 0;
      const told = await lane.alerts(device);
      const noticed = new Set((await lane.notices(device)).map(({ alertId }) => alertId));
      for (const rule of storyRules) {
        const tried = await lane.tried(device, rule, to);
        const all = told.filter(({ name }) => name === rule.name);
        const last = tried.at(-1);
        const before = all.filter(({ time }) => time <= to);
        // Time alone may have raised an alert before the report of the beginning came.
        const isTold = last?.phase !== "raised" || before.some(({ time }) => time >= last.time);
        const own = isTold ? before : all.slice(0, all.findIndex(({ time }) => time > to) + 1);
        compareTold(rule, own, tried);
        compareNotices(
          rule,
          own.toSorted((one, other) => one.key - other.key),
          tried,
          noticed,
        );
      }
    }),
    { numRuns: 4, endOnFailure: true },
  );
});

/** Until it holds; the test's own time limit ends it otherwise. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50));
}
