import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Subjects } from "../../src/notify/subject.ts";
import type { Histories } from "../../src/ports/history.ts";
import { command, webhook } from "../contract/store/alert-values.ts";
import { OutboxBench } from "../support/outbox.ts";
import { TestClock } from "../support/rest.ts";
import { silentLog } from "../support/silent-log.ts";

/** Lets the reading of mileages begin, resolving `asked`, but end only after `held` is resolved. */
function holdMileage(context: TestContext, histories: Pick<Histories, "lastBefore">) {
  const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const read = histories.lastBefore;
  context.mock.method(histories, "lastBefore", async (...given: Parameters<typeof read>) => {
    asked.resolve();
    await held.promise;
    return read.apply(histories, given);
  });
  return { asked, held };
}

test("notices of one alert that are tried at once share what is read, and each is judged by itself; the next ones read anew", async (context) => {
  const bench = await OutboxBench.make();
  context.after(() => bench.close());
  const { store, device, rule, clock } = bench;
  const targets = [...Array(10).fill(webhook), command];
  const made = [await bench.commit(targets), await bench.commit([webhook])].flat();
  const notices = await Promise.all(made.map((id) => bench.notice(id)));
  let questions = 0;
  const { find } = store.alerts;
  context.mock.method(store.alerts, "find", (id: string) => {
    questions++;
    return find.call(store.alerts, id);
  });
  const subjects = new Subjects(store, bench.histories, silentLog);
  const all = () => Promise.all(notices.map((notice) => subjects.find(notice, clock)));
  const founds = await all();
  assert.equal(questions, 2);
  for (const [index, found] of founds.entries()) {
    assert.ok(found !== "gone" && "subject" in found);
    const { subject } = found;
    assert.deepEqual([subject.notice, subject.alert.id], [notices[index], notices[index]?.alertId]);
    assert.deepEqual([subject.rule, subject.device], [rule, device]);
  }
  const reasons = async () =>
    (await all()).map((found) => (found === "gone" ? found : "suppressed" in found ? found.suppressed : "told"));
  await store.alertRules.replace(rule.key, 1, { ...rule, enabled: false }, clock.now());
  assert.deepEqual(await reasons(), [...Array(10).fill("told"), "the rule was disabled", "told"]);
  await store.alertRules.remove(rule.key);
  assert.deepEqual(await reasons(), Array(12).fill("the rule was deleted"));
  await store.devices.remove(device.key);
  assert.deepEqual(await reasons(), Array(12).fill("gone"));
});

test("a rule that is disabled while a mileage is read for long sends no command, also of a notice that joins", async (context) => {
  const bench = await OutboxBench.make();
  context.after(() => bench.close());
  const { store, rule, clock } = bench;
  const [first, second] = await Promise.all((await bench.commit([webhook, command])).map((id) => bench.notice(id)));
  assert.ok(first !== undefined && second !== undefined);
  const { asked, held } = holdMileage(context, bench.histories);
  const subjects = new Subjects(store, bench.histories, silentLog);
  const told = subjects.find(first, clock);
  await asked.promise;
  await store.alertRules.replace(rule.key, 1, { ...rule, enabled: false }, clock.now());
  const ordered = subjects.find(second, clock);
  held.resolve();
  const found = await ordered;
  assert.ok(found !== "gone" && "suppressed" in found);
  assert.equal(found.suppressed, "the rule was disabled");
  await told;
});

test("a device that is removed while a mileage is read for long has nobody told, nor by a notice that joins", async (context) => {
  const bench = await OutboxBench.make();
  context.after(() => bench.close());
  const { store, clock } = bench;
  const [first, second] = await Promise.all((await bench.commit([webhook, webhook])).map((id) => bench.notice(id)));
  assert.ok(first !== undefined && second !== undefined);
  const { asked, held } = holdMileage(context, bench.histories);
  const subjects = new Subjects(store, bench.histories, silentLog);
  const told = subjects.find(first, clock);
  await asked.promise;
  await store.devices.remove(first.device);
  const joined = subjects.find(second, clock);
  held.resolve();
  assert.deepEqual(await Promise.all([told, joined]), ["gone", "gone"]);
});

test("a device that expires by the clock while a mileage is read for long has nobody told", async (context) => {
  const clock = new TestClock();
  const bench = await OutboxBench.make({}, { expires: clock.now() + 60_000 });
  context.after(() => bench.close());
  const { store } = bench;
  const [id] = await bench.commit([webhook]);
  const { histories } = bench;
  const read = histories.lastBefore;
  context.mock.method(histories, "lastBefore", async (...given: Parameters<typeof read>) => {
    clock.pass(61_000);
    return read.apply(histories, given);
  });
  const found = await new Subjects(store, bench.histories, silentLog).find(await bench.notice(id), clock);
  assert.ok(found !== "gone" && "suppressed" in found);
  assert.equal(found.suppressed, "the device has expired");
});
