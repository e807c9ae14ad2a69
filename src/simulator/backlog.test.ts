import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { SimulatedReport } from "../wire/protocol.ts";
import { Backlog } from "./backlog.ts";

const report = (time: number): SimulatedReport => ({
  time,
  latitude: 0,
  longitude: 0,
  altitude: 0,
  speed: 0,
  course: 0,
  satellites: 9,
  ignition: true,
  battery: 90,
});

const anyStep = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ type: "add" as const }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("take" as const), limit: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("acknowledge" as const), count: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.constant({ type: "lose" as const }) },
);

test("whatever happens, every report is acknowledged, dropped or still there; order is kept; the bound holds", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.array(anyStep, { maxLength: 200 }), (limit, steps) => {
      const backlog = new Backlog(limit);
      const sent = new Set<number>();
      let [made, dropped, acknowledged] = [0, 0, 0];
      for (const step of steps) {
        if (step.type === "add") dropped += backlog.add(report(++made));
        else if (step.type === "acknowledge") acknowledged += backlog.acknowledge(step.count);
        else if (step.type === "lose") backlog.lose();
        else {
          const { reports, again } = backlog.take(step.limit);
          const times = reports.map(({ time }) => time);
          assert.deepEqual(
            times,
            times.toSorted((a, b) => a - b),
          );
          assert.equal(times.filter((time) => sent.has(time)).length, again);
          for (const time of times) sent.add(time);
        }
        assert.equal(made, acknowledged + dropped + backlog.length);
        assert.ok(backlog.length <= limit + 1 && backlog.inFlight <= backlog.length);
      }
    }),
  );
});

test("what was lost is sent again, from the oldest on", () => {
  const backlog = new Backlog(10);
  for (let time = 1; time <= 4; time++) backlog.add(report(time));
  assert.equal(backlog.take(3).reports.length, 3);
  assert.equal(backlog.take(3).reports.length, 0);
  assert.equal(backlog.acknowledge(1), 1);
  backlog.lose();
  const { reports, again } = backlog.take(9);
  assert.deepEqual([reports.map(({ time }) => time), again], [[2, 3, 4], 2]);
});
