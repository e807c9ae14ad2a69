import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../test/support/gateway.ts";
import type { BusEvent } from "../ports/bus.ts";
import { hear } from "./hearing.ts";
import { type Reachable, Registry } from "./registry.ts";

const by: Reachable = {
  ...{ protocol: { id: "gt06" }, transport: "tcp", address: "192.0.2.1", since: 0, heardAt: 0 },
  speaksFor: () => true,
  expects: () => "nothing",
  encode: () => "noForm",
  write: () => {},
  deviceChanged: () => {},
  displaced: () => {},
};

test("who has come is told of all devices that are reached, some at a time", async () => {
  const registry = new Registry();
  for (let key = 1; key <= 1201; key++) {
    registry.seen({ id: `d${key}`, key }, { protocol: "gt06", transport: "tcp", address: "192.0.2.1", at: 1 });
    registry.set(`d${key}`, by);
  }
  const told: BusEvent[] = [];
  const parts = {
    ...{ registry, logins: { deviceChanged: () => {} }, commands: { answered: () => false }, tick: 0 },
    deps: { bus: { publish: (event: BusEvent) => void told.push(event) } },
  };
  hear(parts, { type: "processesChanged", came: ["p1"], missed: [] }, undefined);
  const sizes = () => told.map((event) => (event.type === "reachChanged" ? event.devices.length : 0));
  await until(() => sizes().length === 3);
  assert.deepEqual(sizes(), [500, 500, 201]);
});
