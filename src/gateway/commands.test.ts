import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "../observe/index.ts";
import { CommandDesk } from "./commands.ts";
import { type Reachable, Registry } from "./registry.ts";

const peer: Reachable = {
  deviceChanged: () => {},
  displaced: () => {},
  protocol: { id: "p" },
  transport: "tcp",
  address: "192.0.2.1",
  since: 0,
  heardAt: 0,
  speaksFor: () => true,
  expects: () => ({}),
  encode: () => "noForm",
  write: () => {},
};

test("a command whose reply comes no more is forgotten", async () => {
  let now = 0;
  const clock = { now: () => now, monotonic: () => now };
  const registry = new Registry();
  registry.set("d", peer);
  const desk = new CommandDesk(registry, clock, createMetrics({ processMetrics: false }));
  const dispatched = await desk.dispatch("d", { bytes: new Uint8Array([1]) }, 1, async () => true);
  assert.ok(dispatched.outcome === "sent");
  now = 300_001;
  desk.sweep();
  assert.equal(desk.waiting, 1);
  now++;
  desk.sweep();
  assert.equal(desk.waiting, 0);
  assert.equal(await dispatched.later, undefined);
});
