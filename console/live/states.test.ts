import assert from "node:assert/strict";
import { it } from "node:test";
import { deviceStates, type Facts, stateOf } from "./states.ts";

const now = Date.UTC(2026, 0, 15, 12);
const facts: Facts = { speed: 40, fixAt: now, connected: true, contactAt: now, ignition: true, critical: false };

function named(changed: Partial<Facts>): string | undefined {
  return deviceStates[stateOf({ ...facts, ...changed }, now)];
}

it("a device's state follows from speed, ignition, contact and alerts", () => {
  assert.equal(named({}), "moving");
  assert.equal(named({ speed: 2.9 }), "idling");
  assert.equal(named({ speed: 0, ignition: false }), "stopped");
  assert.equal(named({ fixAt: now - 300_000 }), "idling");
  assert.equal(named({ connected: false, contactAt: now - 600_001 }), "offline");
  assert.equal(named({ connected: false, contactAt: now - 600_000 }), "moving");
  assert.equal(named({ connected: false, contactAt: 0, critical: true }), "alert");
});
