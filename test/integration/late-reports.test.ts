import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import type { Fix } from "../../src/model/effects.ts";
import { endRest, type Rest, startRest } from "../support/rest.ts";
import { runs } from "../support/runs.ts";

const start = Date.UTC(2026, 0, 1, 22);

/** A drive over midnight, with stops and an input. */
const drive = fc
  .array(
    fc.record({
      seconds: fc.constantFrom(0, 1, 30, 600, 4000),
      north: fc.nat(300),
      input1: fc.boolean(),
      speed: fc.constantFrom(0, 20, 80),
    }),
    { minLength: 2, maxLength: 40 },
  )
  .map((steps) => {
    let [time, latitude] = [start, 4.7];
    return steps.map(({ seconds, north, input1, speed }): Fix => {
      time += seconds * 1000;
      latitude += north / 1e5;
      const at = { type: "fix", time, valid: true, latitude, longitude: -74.1, speed } as const;
      return { ...at, alarms: [], readings: { input1 }, attributes: {} };
    });
  });

describe("late reports", () => {
  let rest: Rest;
  let token: string;
  let devices = 0;
  before(async () => {
    rest = await startRest({ limits: { requestsPerMinute: 1e6, dailyResults: 1e8 } });
    token = await rest.ownerToken();
  });
  after(() => endRest(rest));

  async function device(): Promise<string> {
    const id = `van-${devices++}`;
    const { status } = await rest.call("POST", "/api/devices", { token, body: { id } });
    assert.equal(status, 201);
    return id;
  }

  async function seen(id: string, waits: boolean) {
    const range = { from: "2026-01-01T00:00:00Z", to: "2026-01-31T00:00:00Z" };
    const { json } = await rest.call("POST", `/api/devices/${id}/locations`, { token, body: range });
    if (waits) await rest.followed();
    const last = await rest.call("GET", `/api/devices/${id}/lastLocation`, { token });
    const text = JSON.stringify([json.locations, last.json.lastLocation]);
    return text.replaceAll(/,?"receivedAt":"[^"]*"/g, "");
  }

  it("give the same history at once and the same last location soon, whatever the order", async () => {
    const order = fc.record({ fixes: drive, seeds: fc.array(fc.nat(1000), { minLength: 40, maxLength: 40 }) });
    await fc.assert(
      fc.asyncProperty(order, async ({ fixes, seeds }) => {
        const [inOrder, mixed] = [await device(), await device()];
        await rest.report(inOrder, ...fixes);
        // Those of one moment keep their order.
        const moments = [...Map.groupBy(fixes, ({ time }) => time).values()];
        const shuffled = moments
          .map((own, at) => ({ own, seed: seeds[at] ?? 0 }))
          .sort((one, other) => one.seed - other.seed);
        for (const { own } of shuffled) await rest.report(mixed, ...own);
        await rest.report(mixed, ...(shuffled[0]?.own ?? []));
        const [one, other] = [await seen(mixed, true), await seen(inOrder, false)];
        // The account has few licences.
        for (const id of [inOrder, mixed]) await rest.call("DELETE", `/api/devices/${id}`, { token });
        assert.equal(one, other);
      }),
      { numRuns: runs(100) },
    );
  });

  it("whose position is none on earth are kept as evidence, acknowledged, and no location", async () => {
    const id = await device();
    const fix = {
      type: "fix",
      valid: true,
      latitude: 1,
      longitude: 2,
      alarms: [],
      readings: {},
      attributes: {},
    } as const;
    await rest.report(id, { ...fix, latitude: 91, time: start }, { ...fix, time: start });
    const { json } = await rest.call("GET", `/api/devices/${id}/refused`, { token });
    assert.deepEqual(
      json.refused.map(({ cause }: { cause: string }) => cause),
      ["position"],
    );
    const range = { from: "2026-01-01T00:00:00Z", to: "2030-01-31T00:00:00Z" };
    const { json: history } = await rest.call("POST", `/api/devices/${id}/locations`, { token, body: range });
    assert.equal(history.locations.length, 1);
  });
});
