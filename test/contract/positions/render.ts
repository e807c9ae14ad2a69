import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { stepOf } from "../../../src/fold/step.ts";
import { advance } from "../../../src/fold/totals.ts";
import type { LocationAlerts } from "../../../src/model/alert.ts";
import type { DeviceKey } from "../../../src/model/device.ts";
import { type LocationRecord, noTotals, withTotals } from "../../../src/model/location.ts";
import { alertMembers, locationJson, readingJson } from "../../../src/model/location-json.ts";
import { alarmsIn } from "../../../src/model/observation.ts";
import type { SaidRecord } from "../../../src/model/said.ts";
import type { PositionPlace, PositionStore, RenderAsk } from "../../../src/ports/positions.ts";
import type { PositionsUnderTest } from "./harness.ts";
import { everything, readAll, said, someSaid, start } from "./said.ts";

const odometerStart = 123.456;
const nothing: Omit<RenderAsk, "odometerStart"> = {
  ...everything,
  fold: { time: undefined, totals: noTotals },
  behind: { time: Number.NEGATIVE_INFINITY, nth: 0 },
  limit: Number.MAX_SAFE_INTEGER,
  found: new Map(),
};

type Asked = Partial<RenderAsk> & Pick<RenderAsk, "odometerStart">;

/** All pages of a device. */
async function renderAll(store: PositionStore, device: DeviceKey, asked: Asked): Promise<string> {
  const pieces: string[] = [];
  let ask: RenderAsk = { ...nothing, ...asked };
  for (let left = ask.limit; left > 0; ) {
    const page = await store.render(device, { ...ask, limit: left });
    assert.equal(page.damage, undefined);
    for (const { json, count } of page.pieces) {
      pieces.push(Buffer.from(json).toString());
      assert.equal(JSON.parse(`[${pieces.at(-1)}]`).length, count);
      left -= count;
    }
    if (page.next === undefined) break;
    ask = { ...ask, after: page.next, fold: page.fold };
  }
  return pieces.join(",");
}

/** The same by values. */
function plain(records: readonly SaidRecord[], found: RenderAsk["found"]): readonly (LocationRecord & PositionPlace)[] {
  let totals = noTotals;
  let nth = 0;
  return records.map((record, at) => {
    const before = records[at - 1]?.time;
    totals = advance(totals, before, stepOf(record));
    nth = before === record.time ? nth + 1 : 1;
    const isLast = records[at + 1]?.time !== record.time;
    const alerts = alertMembers(alarmsIn(record.extras), isLast ? found.get(record.time) : undefined);
    return { ...withTotals({ ...record, totals, ...(alerts !== undefined && { alerts }) }, totals), nth };
  });
}

const isShown = (record: LocationRecord) => !record.unlocated || record.positionTime !== undefined;

const extras = fc.constantFrom(
  ',"attributes":{',
  ',"battery":85,"inputs":[true,false,true],"attributes":{"ignition":"false","hdop":"0.9","note":"ñ\\u0001"',
  ',"inputs":[false],"attributes":{"accuracy":"1200","alarms":"sos,lowBattery"',
  ',"attributes":{"accuracy":"12.5","alarms":"tow"',
);
const somewhere = fc
  .tuple(someSaid, extras, fc.boolean())
  .map(([record, own, isPlain]) => (isPlain ? record : said((record.time - start) / 1000, { ...record, extras: own })));

/** What is rendered is what is read, folded and written as the model does. */
export function renderContract(
  withStore: (work: (store: PositionsUnderTest, own: number) => Promise<void>) => Promise<void>,
) {
  it("renders what it reads, in the form of the API", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(somewhere, { maxLength: 30 }), { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(120), { maxLength: 5 }),
        fc.nat(100),
        fc.integer({ min: 1, max: 40 }),
        (batches, alerts, skip, limit) =>
          withStore(async (store, own) => {
            for (const records of batches) {
              await store.append([{ device: own, records }]);
              if (records.length % 2 === 0) await store.settle();
            }
            const { records } = await readAll(store, own);
            const times = alerts.map((at) => records[at % Math.max(1, records.length)]?.time ?? 0);
            const one: LocationAlerts = { alerts: [{ name: "ñ", text: '"fast"', critical: true }] };
            const found = new Map(times.map((time) => [time, one]));
            const all = plain(records, found);
            const from = all[skip % Math.max(1, all.length)];
            const behind = from ?? nothing.behind;
            const shown = all.slice(from === undefined ? 0 : all.indexOf(from) + 1);
            const locations = shown.filter(isShown).map((record) => locationJson(record, odometerStart));
            const readings = shown.map((record) => readingJson(record));
            const asked = { behind: { time: behind.time, nth: behind.nth }, found };
            assert.equal(await renderAll(store, own, { ...asked, odometerStart }), locations.join(","));
            assert.equal(
              await renderAll(store, own, { ...asked, odometerStart, limit }),
              locations.slice(0, limit).join(","),
            );
            assert.equal(await renderAll(store, own, { ...asked, odometerStart: undefined }), readings.join(","));
          }),
      ),
      { numRuns: 30 },
    ));

  it("renders long histories in pieces, page by page", () =>
    withStore(async (store, own) => {
      const records = Array.from({ length: 12_000 }, (_, second) => said(second >> 1, { speed: second % 7 }));
      await store.append([{ device: own, records: records.slice(0, 8000) }]);
      await store.settle();
      await store.append([{ device: own, records: records.slice(7000) }]);
      const one: LocationAlerts = { alerts: [{ name: "a", text: "b", critical: false }] };
      const found = new Map(records.map(({ time }) => [time, one]));
      const expected = plain(records, found).map((record) => locationJson(record, 0));
      assert.equal(await renderAll(store, own, { odometerStart: 0, found }), expected.join(","));
      const page = await store.render(own, { ...nothing, odometerStart: 0 });
      assert.ok(page.pieces.length > 0 && page.next !== undefined);
      for (const { json } of page.pieces) assert.ok(json.byteLength < 110_000);
    }));
}
