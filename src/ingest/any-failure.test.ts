import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { device } from "../../test/support/records.ts";
import { runs } from "../../test/support/runs.ts";
import { fix, setUp, start } from "../../test/support/troubled-store.ts";
import type { Fix } from "../model/effects.ts";
import type { Outcome } from "../ports/intake.ts";
import { StoreUnavailable } from "../ports/store.ts";

/**
 * What an append meets: nothing, an answer that is lost, a store that can't be used for a while, a defect, or a device
 * that it can't take.
 */
const meets = ["done", "answer lost", "unavailable", "down", "defect", "device"] as const;

interface Message {
  readonly device: number;
  readonly fixes: readonly Fix[];
  outcome?: Outcome;
}

test("whatever fails in between, what is acknowledged was appended and followed, in the order of its device", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          device: fc.integer({ min: 1, max: 4 }),
          reports: fc.integer({ min: 1, max: 3 }),
          /** Turns of the event loop before it comes. */
          after: fc.nat(3),
          /** The device is edited, or deleted, before that. */
          change: fc.constantFrom("", "", "", "", "edited", "deleted"),
        }),
        { maxLength: 30 },
      ),
      fc.array(fc.constantFrom(...meets), { maxLength: 20 }),
      run,
    ),
    { numRuns: runs(300) },
  );
});

async function run(
  given: readonly { device: number; reports: number; after: number; change: string }[],
  troubles: readonly (typeof meets)[number][],
): Promise<void> {
  const { store, following, bus, ingest } = setUp();
  store.devices = Array.from({ length: 4 }, (_, index) => device({ key: index + 1, id: `d${index + 1}` }));
  let lost = false;
  store.trouble = troubles.map((trouble) => async (batch) => {
    if (trouble === "down") store.down = 1;
    if (trouble === "unavailable" || trouble === "down") throw new StoreUnavailable("disk full");
    if (trouble === "defect" || (trouble === "device" && batch.some(({ device: key }) => key === 2)))
      throw new Error("a defect");
    lost = trouble === "answer lost";
  });
  store.answering = async () => {
    if (!lost) return;
    lost = false;
    throw new StoreUnavailable("the writer died");
  };
  const messages: Message[] = [];
  const answered: Promise<void>[] = [];
  let second = 0;
  for (const { device: key, reports, after, change } of given) {
    for (let turns = 0; turns < after; turns++) await new Promise((resolve) => setImmediate(resolve));
    const admission = await ingest.admit([`d${key}`]);
    if (admission.status !== "admitted") continue;
    const message: Message = { device: key, fixes: Array.from({ length: reports }, () => fix(second++)) };
    messages.push(message);
    answered.push(
      new Promise((resolve) =>
        ingest.submit(admission, message.fixes, start, (outcome) => {
          assert.equal(message.outcome, undefined, "it is answered once");
          message.outcome = outcome;
          resolve();
        }),
      ),
    );
    if (change === "deleted") store.devices = store.devices.filter((one) => one.key !== key);
    if (change !== "") bus.publish({ type: "deviceChanged", accountKey: 1, key, id: `d${key}` });
  }
  await Promise.all(answered);
  await ingest.stop();
  for (let key = 1; key <= 4; key++) {
    const own = messages.filter((message) => message.device === key);
    const times = own.flatMap(({ fixes, outcome }) => (outcome === "stored" ? fixes.map(({ time }) => time) : []));
    const followed = following.batches.flatMap(({ batch }) =>
      batch.flatMap(({ device: { key: of }, records }) => (of === key ? records.map(({ time }) => time) : [])),
    );
    assert.deepEqual(followed, times, "what is acknowledged is followed once, and nothing else");
    const isUnsure = (time: number) =>
      following.unsure.some(({ device: of, from, to }) => of === key && from <= time && time <= to);
    const appended = store.appends.flatMap((rows) =>
      rows.flatMap(({ device: of, records }) => (of === key ? records.map(({ time }) => time) : [])),
    );
    assert.deepEqual(
      [...new Set(appended)].filter((time) => times.includes(time) || !isUnsure(time)),
      times,
      "and appended, in the order in which it came",
    );
  }
  const places = following.batches.map(({ place }) => place);
  assert.deepEqual(
    places,
    places.toSorted((one, other) => one - other),
  );
}
