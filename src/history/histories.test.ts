import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { said, sortedOnce, start, unlocated } from "../../test/contract/positions/said.ts";
import { newAlert } from "../../test/contract/store/alert-values.ts";
import { acts, device, Followed, history } from "../../test/support/followed.ts";
import { MemoryPositions } from "../../test/support/positions-memory.ts";
import { runs } from "../../test/support/runs.ts";
import { stepOf } from "../fold/step.ts";
import { advance } from "../fold/totals.ts";
import type { Alert } from "../model/alert.ts";
import { type LocationRecord, noTotals, withTotals } from "../model/location.ts";
import { locationJson, readingJson } from "../model/location-json.ts";
import type { SaidRecord } from "../model/said.ts";
import type { AlertStore, StoredAlert } from "../ports/alert-store.ts";
import type { HistoryRange } from "../ports/history.ts";
import type { PositionPlace } from "../ports/positions.ts";
import { StoreUnavailable } from "../ports/store.ts";
import { FoldedHistories } from "./histories.ts";

const odometerStart = 1000.5;
const always = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };
const dayMs = 86_400_000;

/** A device that is followed, and its histories. */
class Device extends Followed {
  readonly positions = new MemoryPositions();
  alerts: readonly Alert[] = [];
  readonly histories: FoldedHistories;

  constructor(...records: readonly SaidRecord[]) {
    super();
    this.positions.came.set(device, this.said.came);
    const head = async () => {
      if (this.fold.days.length > 0) await this.save();
      return this.fold.head;
    };
    const alerts: Pick<AlertStore, "list"> = { list: async (...asked) => this.#list(...asked) };
    this.histories = new FoldedHistories({ positions: this.positions, follow: this.store, heads: { head }, alerts });
    if (records.length > 0) this.append(records);
  }

  #list(...[, { from, to, after, limit }]: Parameters<AlertStore["list"]>): readonly StoredAlert[] {
    const handling = { state: "open" as const, endedAt: null, acknowledged: null, closed: null };
    return this.alerts
      .map((alert, key) => ({ ...alert, key, channels: [], handling }))
      .toSorted((one, other) => one.time - other.time || one.key - other.key)
      .filter(({ time }) => time >= from && time <= to)
      .filter(({ time, key }) => after === undefined || time > after.time || (time === after.time && key > after.key))
      .slice(0, limit);
  }

  async read(range: Partial<HistoryRange> = {}): Promise<{ readonly json: string; readonly last?: PositionPlace }> {
    const pieces: string[] = [];
    let last: PositionPlace | undefined;
    const asked = { ...always, account: 1, odometerStart, limit: Number.MAX_SAFE_INTEGER, ...range };
    for await (const chunk of this.histories.history(device, asked)) {
      const json = Buffer.from(chunk.json).toString();
      assert.equal(JSON.parse(`[${json}]`).length, chunk.count);
      pieces.push(json);
      last = chunk.last;
    }
    return { json: pieces.join(","), ...(last && { last }) };
  }

  /** All of a range, some records at a time. */
  async paged(range: Partial<HistoryRange>, limit: number): Promise<string> {
    const pages: string[] = [];
    for (let after: PositionPlace | undefined; ; ) {
      const { json, last } = await this.read({ ...range, limit, ...(after && { after }) });
      if (last === undefined) return pages.join(",");
      pages.push(json);
      after = last;
    }
  }
}

/** The plain fold: each record with its totals. */
function plainFold(records: readonly SaidRecord[]): readonly LocationRecord[] {
  let totals = noTotals;
  return records.map((record, at) => {
    totals = advance(totals, records[at - 1]?.time, stepOf(record));
    return withTotals({ ...record, totals }, totals);
  });
}

function isShown({ unlocated: without, positionTime }: LocationRecord): boolean {
  return !without || positionTime !== undefined;
}

/** Whether a history is that of the plain fold, whatever is folded. */
async function compare(one: Device, from: number, to: number, limit: number): Promise<void> {
  const all = plainFold(sortedOnce(one.said.came)).filter(({ time }) => time >= from && time <= to);
  const locations = all.filter(isShown).map((record) => locationJson(record, odometerStart));
  assert.equal((await one.read({ from, to })).json, locations.join(","));
  assert.equal(await one.paged({ from, to }, limit), locations.join(","));
  assert.equal(
    await one.paged({ from, to, readings: true }, limit),
    all.map((record) => readingJson(record)).join(","),
  );
  const records: LocationRecord[] = [];
  for await (const some of one.histories.records(device, { from, to })) records.push(...some);
  assert.deepEqual(records, all);
  assert.deepEqual(
    await one.histories.lastBefore(device, to),
    plainFold(sortedOnce(one.said.came)).findLast(({ time }) => time <= to),
  );
}

describe("a history", () => {
  it("is that of the plain fold at once, in whatever order records come and whatever of them is folded", async () => {
    const moments = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }));
    await fc.assert(
      fc.asyncProperty(
        history,
        acts,
        moments,
        fc.integer({ min: 1, max: 9 }),
        async (records, some, [one, other], limit) => {
          const left = [...records];
          const followed = new Device();
          const moment = (share: number) => records[Math.floor(share * (records.length - 1))]?.time ?? 0;
          const [from = 0, to = 0] = [moment(one), moment(other)].toSorted((first, second) => first - second);
          for (const { take, from: where, next } of some) {
            const at = where === "first" ? 0 : where === "last" ? Math.max(0, left.length - take) : left.length >> 1;
            if (where === "again") followed.append(followed.said.came.slice(0, take));
            else followed.append(left.splice(at, take));
            const compared = compare(followed, from, to, limit);
            if (next === "catchUp") await followed.refold().then(() => followed.save());
            else if (next === "save") await followed.save();
            await compared;
            if (next === "crash") await followed.crash();
          }
          followed.append(left);
          await compare(followed, from, to, limit);
        },
      ),
      { numRuns: runs(3000) },
    );
  });

  it("has the API's form, by hand", async () => {
    const from = Date.UTC(2026, 0, 31, 23, 59, 50);
    const at = (ms: number) => ({ time: from + ms, receivedAt: from + ms + 60_000 });
    const one = new Device(
      said(0, {
        ...at(0),
        latitude: 48,
        longitude: -11,
        speed: 50,
        course: 0,
        extras: ',"inputs":[true],"attributes":{',
      }),
      { ...unlocated(0), ...at(10_001), receivedAt: from + 70_002 },
      said(0, {
        ...at(20_000),
        ...{ valid: false, latitude: 48.5, longitude: -11.25, speed: 0, course: 359.5 },
        extras: ',"battery":85,"attributes":{"hdop":"0.9","valid":"false","alarms":"sos,lowBattery"',
      }),
      said(0, { ...at(40_000), latitude: 48.001, longitude: -11, speed: 50.25, receivedAt: from - 5 }),
    );
    const none = '"alerts":[],"alertTexts":[],"warnings":[],"warningTexts":[],"hasCriticalAlert":false';
    const expected = [
      `{"dateTime":"2026-01-31T23:59:50.000Z","latitude":48,"longitude":-11,"speed":50,"course":0,"milleage":1000.5,` +
        `"inactiveSeconds":0,"sensorTime1":0,${none},"inputs":[true],"attributes":{}}`,
      `{"dateTime":"2026-02-01T00:00:00.001Z","latitude":48,"longitude":-11,"milleage":1000.5,"inactiveSeconds":10,` +
        `"sensorTime1":10,${none},"attributes":{"positionTime":"2026-01-31T23:59:50.000Z","receivedAt":"2026-02-01T00:01:00.002Z"}}`,
      `{"dateTime":"2026-02-01T00:00:10.000Z","latitude":48.5,"longitude":-11.25,"speed":0,"course":359.5,"milleage":1000.5,` +
        `"inactiveSeconds":20,"sensorTime1":20,"alerts":[],"alertTexts":[],"warnings":["sos","lowBattery"],` +
        `"warningTexts":["SOS button pressed","Tracker's battery is low"],"hasCriticalAlert":false,"battery":85,` +
        `"attributes":{"hdop":"0.9","valid":"false","alarms":"sos,lowBattery"}}`,
      `{"dateTime":"2026-02-01T00:00:30.000Z","latitude":48.001,"longitude":-11,"speed":50.25,"course":270.5,"milleage":1000.611,` +
        `"inactiveSeconds":0,"sensorTime1":40,${none},"attributes":{}}`,
    ];
    assert.equal((await one.read()).json, expected.join(","));
    const readings = [
      `{"dateTime":"2026-01-31T23:59:50.000Z","latitude":48,"longitude":-11,"speed":50,"course":0,"inputs":[true],"attributes":{}}`,
      `{"dateTime":"2026-02-01T00:00:00.001Z","attributes":{"receivedAt":"2026-02-01T00:01:00.002Z"}}`,
      `{"dateTime":"2026-02-01T00:00:10.000Z","latitude":48.5,"longitude":-11.25,"speed":0,"course":359.5,"battery":85,` +
        `"attributes":{"hdop":"0.9","valid":"false","alarms":"sos,lowBattery"}}`,
      `{"dateTime":"2026-02-01T00:00:30.000Z","latitude":48.001,"longitude":-11,"speed":50.25,"course":270.5,"attributes":{}}`,
    ];
    assert.equal((await one.read({ readings: true })).json, readings.join(","));
  });

  it("shows what rules found at the last record of its moment, and nothing that was withdrawn", async () => {
    const moment = said(60).time;
    const sos = said(60, { speed: 2, extras: ',"attributes":{"alarms":"sos"' });
    const one = new Device(said(0), said(60, { speed: 1 }), sos, said(60.5), said(61));
    const facts = { value: 92 };
    const alert = (name: string, changes: Partial<Alert> = {}) =>
      newAlert(device, 0, { time: moment, name, text: `${name}!`, facts, ...changes });
    one.alerts = [
      alert("fast", { ruleKey: 1 }),
      alert("over", { ruleKey: 2, phase: "over" }),
      alert("wrong", { ruleKey: 3 }),
      alert("wrong", { ruleKey: 3, phase: "withdrawn" }),
      alert("grave", { ruleKey: 4, critical: true }),
      alert("by time alone", { ruleKey: 5, time: moment + 250 }),
    ];
    for (const range of [{}, { from: moment, to: moment }]) {
      const found = JSON.parse(`[${await one.paged(range, 1)}]`);
      const shown = found.filter(({ dateTime }: { dateTime: string }) => dateTime === new Date(moment).toISOString());
      assert.deepEqual(
        shown.map(({ alerts, warnings }: { alerts: unknown; warnings: unknown }) => ({ alerts, warnings })),
        [
          { alerts: [], warnings: [] },
          { alerts: ["fast", "grave"], warnings: ["sos"] },
        ],
      );
      assert.deepEqual(shown[1].alertTexts, ["fast!", "grave!"]);
      assert.equal(shown[1].hasCriticalAlert, true);
    }
    const others = JSON.parse(`[${(await one.read()).json}]`).toSpliced(2, 1);
    assert.ok(others.every(({ alerts }: { alerts: readonly string[] }) => alerts.length === 0));
  });

  it("shows each of very many alerts", async () => {
    const records = Array.from({ length: 1300 }, (_, second) => said(second));
    const one = new Device(...records);
    one.alerts = records.map(({ time }) => newAlert(device, 0, { time, name: `${time}`, facts: {} }));
    const found = JSON.parse(`[${(await one.read()).json}]`);
    assert.deepEqual(
      found.map(({ alerts }: { alerts: unknown }) => alerts),
      records.map(({ time }) => [`${time}`]),
    );
  });

  it("goes on with the sums of what was deleted", async () => {
    const days = [0, 1, 2, 3].map((day) => [0, 60, 120].map((second) => said(day * 86_400 + second)));
    const records = days.flat();
    const plain = plainFold(records).map((record) => locationJson(record, odometerStart));
    const one = new Device(...records);
    await one.save();
    const kept = Math.floor(start / dayMs) + 2;
    one.fold.keepFrom(kept * dayMs);
    await one.save();
    await one.positions.deleteBefore(device, kept * dayMs);
    await one.store.forgetDays(device, kept);
    for (const from of [Number.NEGATIVE_INFINITY, start, start + dayMs, start + 2 * dayMs])
      assert.equal((await one.read({ from })).json, plain.slice(6).join(","));
    one.append([said(3 * 86_400 - 5), said(86_400)]);
    const late = plainFold([...records, said(3 * 86_400 - 5)].toSorted((first, other) => first.time - other.time));
    assert.equal(
      (await one.read()).json,
      late
        .slice(6)
        .map((record) => locationJson(record, odometerStart))
        .join(","),
    );
    await one.store.forgetDays(device, kept + 1);
    one.fold.keepFrom((kept + 1) * dayMs);
    await one.positions.deleteBefore(device, (kept + 1) * dayMs);
    assert.equal((await one.read()).json, (await one.read({ from: start + 2.6 * dayMs })).json);
    assert.equal(await one.histories.lastBefore(device, start + 2 * dayMs), undefined);
  });

  it("gives what stands before a damaged part, and rejects there", async () => {
    const one = new Device(...Array.from({ length: 40 }, (_, second) => said(second)));
    one.positions.unreadable = [{ from: said(20).time, to: said(25).time, what: "block 3: its checksum is wrong" }];
    const given: string[] = [];
    const read = async () => {
      const asked = { ...always, account: 1, odometerStart, limit: 100 };
      for await (const { json } of one.histories.history(device, asked)) given.push(Buffer.from(json).toString());
    };
    await assert.rejects(read(), (error) => error instanceof StoreUnavailable && error.trouble === "damaged");
    assert.equal(JSON.parse(`[${given.join(",")}]`).length, 20);
    assert.equal(JSON.parse(`[${(await one.read({ to: said(19).time })).json}]`).length, 20);
  });

  it("behind a damaged part has the sums that were known before it was damaged", async () => {
    // A winding way, so that a straight line over the damaged part would be shorter.
    const wind = (second: number) => said(second * 10, { longitude: -74.1 + (second % 2) / 1000 });
    const records = Array.from({ length: 120 }, (_, second) => wind(second + 4250));
    const plain = plainFold(records).map((record) => locationJson(record, odometerStart));
    const one = new Device(...records);
    const part = (from: number, to: number) => ({
      ...{ from: records[from]?.time ?? 0, to: records[to]?.time ?? 0 },
      what: "block 3: its checksum is wrong",
    });
    for (const [from, to] of [
      [1, 12],
      [30, 55],
      [62, 75],
      [75, 90],
    ] as const) {
      one.positions.unreadable = [part(from, to)];
      // The fold's distance is counted two minutes at a time.
      const settled = to + 14;
      const { json } = await one.read({ from: records[settled]?.time ?? 0 });
      assert.equal(json, plain.slice(settled).join(","), `${from} to ${to}`);
      const next = JSON.parse(`[${(await one.read({ from: records[to + 1]?.time ?? 0 })).json}]`);
      assert.equal(next.length, records.length - to - 1);
    }
    one.positions.unreadable = [part(30, 55), part(62, 75)];
    assert.equal((await one.read({ from: records[90]?.time ?? 0 })).json, plain.slice(90).join(","));
    one.positions.unreadable = [part(100, 119)];
    await assert.rejects(one.read({ from: records[100]?.time ?? 0 }), StoreUnavailable);
  });

  it("of a long time gives others their turn of the event loop", async () => {
    const one = new Device(...Array.from({ length: 3000 }, (_, second) => said(second)));
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const chunks: number[] = [];
    for await (const { json } of one.histories.history(device, { ...always, account: 1, odometerStart, limit: 1e6 }))
      chunks.push(json.byteLength);
    clearInterval(timer);
    assert.ok(turns > 0 && chunks.length > 1);
    assert.ok(Math.max(...chunks) < 200_000, `${Math.max(...chunks)}`);
  });
});
