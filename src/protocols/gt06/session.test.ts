import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { zoneOf } from "./login.ts";
import { clockOffset, initial, observeClock } from "./session.ts";

const hour = 3_600_000;
const now = Date.UTC(2026, 1, 3, 4, 5, 6);

describe("the zone of a login", () => {
  it("is hours and minutes in decimal, east or west", () => {
    assert.equal(zoneOf(0x3200), 8 * hour);
    assert.equal(zoneOf(0x4dd8), -(12 * hour + 45 * 60_000));
    assert.equal(zoneOf(0x0002), 0);
    assert.equal(zoneOf(0x0008), 0);
  });
});

describe("the clock of the older messages", () => {
  it("is UTC until a message shows otherwise", () => {
    assert.equal(clockOffset(initial), 0);
    assert.equal(observeClock(initial, now + 8 * hour, now), initial);
    const west = { zone: -4 * hour };
    assert.equal(observeClock(west, now - 30 * hour, now), west);
  });

  it("is local where a live message is now in local time, or lies in the future", () => {
    for (const zone of [8 * hour, 5.5 * hour, -4 * hour]) {
      const session = observeClock({ zone }, now + zone - 2_000, now);
      assert.equal(session.clock, "local");
      assert.equal(clockOffset(session), zone);
    }
    assert.equal(observeClock({ zone: 8 * hour }, now + 3 * hour, now).clock, "local");
  });

  it("is decided once for a connection, and never moves a live UTC time", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -12, max: 14 }),
        fc.array(fc.integer({ min: -50 * hour, max: 20 * hour }), { maxLength: 10 }),
        (hours, ages) => {
          let session = observeClock({ zone: hours * hour }, now, now);
          for (const age of ages) session = observeClock(session, now + age, now);
          assert.equal(clockOffset(session), 0);
        },
      ),
    );
  });
});
