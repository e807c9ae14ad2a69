import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { userOf } from "../../../test/support/users.ts";
import type { Trip } from "../../contract/trip.ts";
import type { Device } from "../../model/device.ts";
import { whole } from "../../model/steps.ts";
import type { Histories } from "../../ports/history.ts";
import { createTrips } from "./trips.ts";

const begin = Date.UTC(2026, 0, 15, 8);
const device = { key: 1, accountKey: 1, odometerStart: 0 } as Device;
const user = userOf({ timeZone: "America/Bogota" });
const at = (minute: number) => new Date(begin + minute * 60_000).toISOString();

/** What a device reports, in minutes after 8:00 and km on its way. */
type Walk = readonly { readonly minute: number; readonly km: number; readonly moved: boolean }[];

/** Trips over a history in pieces of `each` positions. */
function tripsOver(walk: Walk, most = { positions: 200_000, segments: 10_000 }, each = 3) {
  const read: number[] = [];
  const history: Histories["history"] = async function* (_device, { from, to, limit }) {
    const asked = walk.map((one) => ({ ...one, time: begin + one.minute * 60_000 }));
    const found = asked.filter(({ time }) => time >= from && time <= to).slice(0, limit);
    for (let index = 0; index < found.length; index += each) {
      const some = found.slice(index, index + each);
      read.push(some.length);
      const texts = some.map(({ time, km, moved }) =>
        JSON.stringify({
          ...{ dateTime: new Date(time).toISOString(), latitude: 4 + km / 111.2, longitude: -74 },
          ...{ milleage: km, inactiveSeconds: moved ? 0 : 60, attributes: {} },
        }),
      );
      const last = { time: some.at(-1)?.time ?? 0, nth: 1 };
      yield { json: new TextEncoder().encode(texts.join()), count: some.length, last };
    }
  };
  const settings = { stopSeconds: 300, gapSeconds: 3600, leastMetres: 200 };
  const inTurn = async <T>(_account: number, steps: Generator<undefined, T, undefined>) => whole(steps);
  const trips = createTrips({ histories: { history }, shownFrom: async () => 0, settings, inTurn, most });
  return { trips, read };
}

const wanted = () => {};

/** All trips and all days of a range, answer by answer. */
async function all({ trips }: ReturnType<typeof tripsOver>, from: number, to: number) {
  const found: Trip[] = [];
  for (let next: string | undefined = at(from); next !== undefined; ) {
    const answer = await trips.list(device, { from: next, to: at(to) }, wanted);
    found.push(...answer.trips);
    next = answer.nextFrom;
  }
  const days = [];
  for (let next: string | undefined = at(from); next !== undefined; ) {
    const answer = await trips.days(user, device, { from: next, to: at(to) }, wanted);
    days.push(...answer.days);
    next = answer.nextFrom;
  }
  return { found, days };
}

const walks = fc
  .array(fc.record({ minutes: fc.integer({ min: 1, max: 70 }), km: fc.constantFrom(0, 0, 1, 7) }), { maxLength: 80 })
  .map((steps) => {
    let [minute, km] = [0, 0];
    return steps.map((step) => {
      minute += step.minutes;
      km += step.km;
      return { minute, km, moved: step.km > 0 };
    });
  });

test("trips that fill more than one answer are the same as in one", async () => {
  const few = { positions: 60, segments: 3 };
  await fc.assert(
    fc.asyncProperty(walks, async (walk) => {
      const [one, some] = [await all(tripsOver(walk), 0, 10_000), await all(tripsOver(walk, few), 0, 10_000)];
      const brief = (found: readonly Trip[]) => found.map(({ start, end, distance }) => [start, end, distance]);
      assert.deepEqual(brief(some.found), brief(one.found));
      const kept = ({ days }: typeof one) => days.map(({ date, trips, tripSeconds }) => [date, trips, tripSeconds]);
      assert.deepEqual(kept(some), kept(one));
    }),
  );
});

test("a trip that is under way when a range of days begins has begun before, and counts from there on", async () => {
  // 8:00 to 10:00, a position each ten minutes.
  const walk = Array.from({ length: 13 }, (_, index) => ({ minute: index * 10, km: index * 5, moved: index > 0 }));
  const { days } = await all(tripsOver(walk), 65, 500);
  const [day] = days;
  assert.deepEqual([days.length, day?.trips, day?.tripSeconds, day?.distance], [1, 0, 55 * 60, 30]);
  const parked = [...walk.slice(0, 7), ...walk.slice(7).map((one) => ({ ...one, minute: one.minute + 300 }))];
  assert.equal((await all(tripsOver(parked), 65, 500)).days[0]?.trips, 1);
});

test("an end of the wait ends the reading", async () => {
  const walk = Array.from({ length: 100 }, (_, index) => ({ minute: index, km: index, moved: true }));
  const { trips, read } = tripsOver(walk);
  const gone = () => {
    if (read.length === 4) throw new Error("gone");
  };
  await assert.rejects(trips.list(device, { from: at(0), to: at(1000) }, gone), /gone/);
  assert.equal(read.length, 4);
});
