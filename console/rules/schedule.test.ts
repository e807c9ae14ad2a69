import assert from "node:assert/strict";
import { it } from "node:test";
import { dayName, scheduleDraft, scheduleOf } from "./schedule.ts";

it("a schedule that nobody touched stays, and one that is always has none", () => {
  const schedule = { days: ["monday" as const, "sunday" as const], from: "22:00", timeZone: "America/Bogota" };
  assert.deepEqual(scheduleOf(scheduleDraft(schedule), schedule), schedule);
  assert.equal(scheduleOf(scheduleDraft(null), null), null);
});

it("days are in their order, and named in the person's language", () => {
  const draft = { always: false, days: ["sunday" as const, "monday" as const], from: "", to: "06:00" };
  assert.deepEqual(scheduleOf(draft, null), { days: ["monday", "sunday"], to: "06:00" });
  assert.deepEqual([dayName(0, "en"), dayName(6, "es")], ["Mon", "dom"]);
});
