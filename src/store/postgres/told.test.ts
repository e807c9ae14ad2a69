import assert from "node:assert/strict";
import { test } from "node:test";
import type { BusEvent } from "../../ports/bus.ts";
import { Untold } from "./told.ts";

const committed = (key: number, ...ids: readonly string[]): BusEvent => ({
  type: "committed",
  devices: [{ device: { key, accountKey: 1 }, plan: { alerts: ids.map((id) => ({ id })) } }],
});

test("what is to be told keeps its order, with the commits of each device as one behind it", () => {
  const untold = new Untold();
  const others: readonly BusEvent[] = [
    { type: "rulesChanged", accountKey: 1 },
    { type: "userChanged", accountKey: 1, key: 2 },
  ];
  for (const event of [committed(7, "a"), ...others, committed(8), committed(7, "b")]) untold.add(event);
  const [first, second, last] = untold.take();
  assert.deepEqual([first, second], others);
  assert.deepEqual(
    last?.type === "committed" &&
      last.devices.map(({ device, plan }) => [device.key, plan.alerts?.map(({ id }) => id)]),
    [
      [7, ["a", "b"]],
      [8, []],
    ],
  );
  assert.ok(untold.isEmpty);
  assert.deepEqual(untold.take(), []);
});
