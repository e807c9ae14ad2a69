import assert from "node:assert/strict";
import { it } from "node:test";
import type { Alert } from "../live/events.ts";
import { alertsNow } from "./filter.ts";

function alert(id: string, minute: number, changed: Partial<Alert> = {}): Alert {
  const dateTime = new Date(Date.UTC(2026, 0, 15, 12, minute)).toISOString();
  return {
    ...{ id, deviceId: "1", deviceName: "Van", dateTime, raisedAt: dateTime, text: "", notifications: [], alerts: [] },
    ...{ ruleId: "r", type: "sos", phase: "raised", critical: true, late: false, facts: {}, state: "open" },
    ...changed,
  };
}

function ids(alerts: readonly Alert[]): string {
  return alerts.map(({ id }) => id).join();
}

it("the list shows what was loaded as it is now, and what came since", () => {
  const loaded = [alert("b", 2), alert("a", 1)];
  const heard = new Map([
    ["c", alert("c", 3)],
    ["a", alert("a", 1, { state: "acknowledged" })],
    ["d", alert("d", 0, { deviceId: "2", critical: false })],
  ]);
  assert.equal(ids(alertsNow(loaded, heard, {})), "c,b,a,d");
  assert.equal(ids(alertsNow(loaded, heard, { state: "open" })), "c,b,d");
  assert.equal(ids(alertsNow(loaded, heard, { state: "open", device: "1" })), "c,b");
  assert.equal(ids(alertsNow(loaded, heard, { critical: false })), "d");
});
