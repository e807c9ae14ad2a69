import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import fc from "fast-check";
import { commitAlerts } from "../contract/store/alert-values.ts";
import { actOrRefusal, build, someActs, someRoom, stored, tally } from "../support/concurrent-acts.ts";
import { noPostgres } from "../support/postgres.ts";
import { PostgresPair } from "../support/postgres-pair.ts";
import { dataFolder } from "../support/service.ts";
import { openStore } from "../support/store.ts";

describe("two PostgreSQL stores on one database", { skip: noPostgres }, () => {
  let pair: PostgresPair;
  before(async () => {
    pair = await PostgresPair.open();
  });

  it("do at once what one embedded store does one after the other", { timeout: 200_000 }, async () => {
    const one = await openStore(dataFolder());
    await fc.assert(
      fc.asyncProperty(someActs, someRoom, async (acts, room) => {
        const expected: string[] = [];
        const model = await build(one, (device, alert, notices) => commitAlerts(one, device, [alert], notices), room);
        for (const each of acts) expected.push(await actOrRefusal(one, model, each));
        const world = await build(pair.of(0), (_, alert, notices) => pair.addAlert(alert, notices), room);
        const answers = await Promise.all(acts.map((each, index) => actOrRefusal(pair.of(index), world, each)));
        assert.deepEqual(tally(acts, answers), tally(acts, expected));
        assert.deepEqual(await stored(pair.of(1), world), await stored(one, model));
        // Of a command's three parts the last one that is delivered makes it so, and no other.
        const parts = [0, 1, 2].map((part) => pair.of(part).commands.receipt(world.sms + part, true));
        const deliveries = (await Promise.all(parts)).map((answer) => answer?.delivery).toSorted();
        assert.deepEqual(deliveries, ["delivered", "open", "open"]);
      }),
      { numRuns: 25, interruptAfterTimeLimit: 100_000, markInterruptAsFailure: false },
    );
    await pair.assertNoFaults();
  });
});
