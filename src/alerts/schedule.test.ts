import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type AlertSchedule, weekdays } from "../model/alert-rule.ts";
import { longestInForceMs, Schedule } from "./schedule.ts";

const zones = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "America/Sao_Paulo"];

function at(text: string): number {
  return Temporal.ZonedDateTime.from(text).toInstant().epochMilliseconds;
}

/** By asking the clock of the zone: the window that began on this day or the one before. */
function expected({ days, from, to }: AlertSchedule, zone: string, time: number): boolean {
  const now = Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(zone);
  return [0, 1].some((back) => {
    const day = now.toPlainDate().subtract({ days: back });
    if (!days.includes(weekdays[day.dayOfWeek - 1] ?? "monday")) return false;
    const start = day.toZonedDateTime({ timeZone: zone, plainTime: from });
    const end = (to > from ? day : day.add({ days: 1 })).toZonedDateTime({ timeZone: zone, plainTime: to });
    return time >= start.epochMilliseconds && time < end.epochMilliseconds;
  });
}

const times = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.constantFrom(0, 1, 30, 59))
  .map(([hour, minute]) => `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`);
const schedules: fc.Arbitrary<AlertSchedule> = fc.record({
  days: fc.subarray([...weekdays]),
  from: times,
  to: times,
  timeZone: fc.constantFrom(...zones),
});

test("it is in force as the clocks of its zone say, whatever was asked before", () => {
  const moments = fc.array(fc.integer({ min: 1_780_000_000_000, max: 1_840_000_000_000 }), {
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(schedules, moments, (schedule, asked) => {
      const made = new Schedule(schedule, "UTC");
      for (const time of asked)
        assert.equal(
          made.inForce(time),
          expected(schedule, schedule.timeZone ?? "UTC", time),
          new Date(time).toISOString(),
        );
    }),
  );
});

test("between a moment and the next change nothing changes, and there it does", () => {
  fc.assert(
    fc.property(schedules, fc.integer({ min: 1_780_000_000_000, max: 1_840_000_000_000 }), (schedule, time) => {
      const made = new Schedule(schedule, "UTC");
      const now = made.inForce(time);
      const change = made.nextChange(time);
      if (change === Number.POSITIVE_INFINITY) return;
      assert.ok(change > time);
      for (let part = 1; part < 8; part++)
        assert.equal(new Schedule(schedule, "UTC").inForce(time + ((change - time) * part) / 8), now);
    }),
  );
});

test("over midnight belongs to the day it began on", () => {
  const night = new Schedule({ days: ["friday"], from: "22:00", to: "06:00", timeZone: null }, "Europe/Berlin");
  assert.equal(night.inForce(at("2026-11-20T21:59:59[Europe/Berlin]")), false);
  assert.equal(night.inForce(at("2026-11-20T22:00[Europe/Berlin]")), true);
  assert.equal(night.inForce(at("2026-11-21T05:59:59[Europe/Berlin]")), true);
  assert.equal(night.inForce(at("2026-11-21T06:00[Europe/Berlin]")), false);
  assert.equal(night.inForce(at("2026-11-21T22:30[Europe/Berlin]")), false);
  assert.equal(night.nextChange(at("2026-11-20T12:00[Europe/Berlin]")), at("2026-11-20T22:00[Europe/Berlin]"));
});

test("all days from midnight to midnight are one stretch; no day is never", () => {
  const always = new Schedule({ days: weekdays, from: "00:00", to: "00:00", timeZone: "Europe/Berlin" }, "UTC");
  const now = at("2026-10-25T02:30[Europe/Berlin]");
  assert.ok(always.inForce(now));
  assert.ok(always.nextChange(now) > now + 6 * 86_400_000);
  const never = new Schedule({ days: [], from: "00:00", to: "00:00", timeZone: null }, "UTC");
  assert.equal(never.inForce(now), false);
  assert.equal(never.nextChange(now), Number.POSITIVE_INFINITY);
});

test("a night in which the clocks change is an hour longer or shorter", () => {
  const night = { days: weekdays, from: "01:00", to: "04:00", timeZone: "Europe/Berlin" } as const;
  const hours = (day: string) => {
    const schedule = new Schedule(night, "UTC");
    const start = schedule.nextChange(at(`${day}T00:30[Europe/Berlin]`));
    return (schedule.nextChange(start) - start) / 3_600_000;
  };
  assert.deepEqual([hours("2026-10-25"), hours("2027-03-28"), hours("2026-11-20")], [4, 2, 3]);
});

test("the longest time without a break is that of a day's window, or of whole days in a row", () => {
  const hours = (days: AlertSchedule["days"], from: string, to: string) =>
    longestInForceMs({ days, from, to, timeZone: null }) / 3_600_000;
  assert.equal(hours(["monday"], "08:00", "18:00"), 10);
  assert.equal(hours(["monday"], "22:00", "06:00"), 8);
  assert.equal(hours(["monday"], "00:00", "00:00"), 24);
  assert.equal(hours(["saturday", "sunday", "monday", "wednesday"], "06:00", "06:00"), 72);
  assert.equal(hours(weekdays, "00:00", "00:00"), Number.POSITIVE_INFINITY);
});
