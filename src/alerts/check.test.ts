import assert from "node:assert/strict";
import { test } from "node:test";
import type { AlertRuleFields } from "../model/alert-rule.ts";
import { checkRule } from "./check.ts";

const good: AlertRuleFields = {
  type: "speedOver",
  parameters: { kmh: 80 },
  name: "Fast",
  enabled: true,
  devices: [],
  groups: [],
  schedule: null,
  conditions: [],
  hysteresis: { holdSeconds: 0, rearmAt: null, cooldownSeconds: 0 },
  channels: { email: [], sms: [], webhook: [] },
  commands: [],
  critical: false,
  text: null,
  notifyWhenOver: false,
  notifyOnlyWhenOver: false,
};

function problems(fields: Partial<AlertRuleFields>): readonly string[] {
  const rule: AlertRuleFields = Object.assign({}, good, fields);
  return checkRule(rule, (id) => id === "depot");
}

test("a rule that makes sense has no problems", () => {
  assert.deepEqual(problems({}), []);
  assert.deepEqual(problems({ type: "allowedZone", parameters: { zones: ["depot"] } }), []);
  assert.deepEqual(
    problems({
      hysteresis: { holdSeconds: 60, rearmAt: 70, cooldownSeconds: 600 },
      text: "{{DeviceName}}: {{ AlertText }}",
    }),
    [],
  );
});

test("every problem is named", () => {
  const found = problems({
    parameters: { kmh: -5 },
    conditions: [
      { attribute: "ignition", operator: "greater", value: 1 },
      { attribute: "fuel", operator: "equal", value: "full" },
      { zone: "nowhere", operator: "inside" },
    ],
    schedule: { days: [], from: "8:00", to: "24:00", timeZone: "Mars/Olympus" },
    hysteresis: { holdSeconds: -1, rearmAt: 90, cooldownSeconds: Number.NaN },
    text: "{{DeviceNam}} {{AlertText}}",
  });
  for (const part of [
    "kmh",
    "geofence nowhere",
    "condition 1",
    "condition 2",
    "no day",
    "schedule.from",
    "schedule.to",
    "Mars/Olympus",
    "holdSeconds",
    "cooldownSeconds",
    "rearmAt",
    "{{DeviceNam}}",
  ])
    assert.ok(
      found.some((problem) => problem.includes(part)),
      `${part} in ${found.join("; ")}`,
    );
});

test("what happens at a moment can neither hold nor be over, and has no threshold", () => {
  assert.equal(
    problems({
      type: "sos",
      parameters: {},
      notifyWhenOver: true,
      hysteresis: { holdSeconds: 5, rearmAt: 3, cooldownSeconds: 0 },
    }).length,
    3,
  );
});

test("a rule of zones names at least one", () => {
  assert.deepEqual(problems({ type: "route", parameters: { zones: [] } }), ["zones must name at least one geofence"]);
  assert.deepEqual(problems({ type: "controlZone", parameters: { zones: ["gone", "depot", "gone"] } }), [
    "geofence gone does not exist",
  ]);
});
