import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RefusedReport } from "../../../src/model/commit.ts";
import { firstArrival, type LocationRecord, placeBefore, type RecordPlace } from "../../../src/model/location.ts";
import { locationJson } from "../../../src/model/location-json.ts";
import type { Store } from "../../../src/ports/store.ts";
import { makeAccount, makeDevice, now, unique } from "./harness.ts";
import { append, batchOf, everything, readAll, record } from "./records.ts";

/** A store with a device of its own. */
async function fresh(store: () => Store) {
  const account = await makeAccount(store());
  const device = await makeDevice(store(), account.key);
  return { store: store(), account, key: device.key, id: device.id };
}

function jsonOf(records: readonly LocationRecord[], odometerStart = 0): string {
  return records.map((one) => locationJson(one, odometerStart)).join(",");
}

/** Commits, states, refused reports and what a commit never leaves behind. */
export function commitContract(store: () => Store): void {
  describe("commits", () => {
    it("gives version 0 for a device that never reported, in the order asked", async () => {
      const { store: open, account, key } = await fresh(store);
      const other = await makeDevice(open, account.key);
      await open.locations.commit(batchOf(append(other.key, 1, [record(1)])));
      const states = await open.locations.states([key, other.key, 999_999_999, key]);
      assert.deepEqual(
        states.map(({ version, time }) => ({ version, time })),
        [
          { version: 0, time: 0 },
          { version: 1, time: record(1).time },
          { version: 0, time: 0 },
          { version: 0, time: 0 },
        ],
      );
      assert.deepEqual(await open.locations.states([]), []);
    });

    it("keeps a state with its last record, or without one", async () => {
      const { store: open, key } = await fresh(store);
      const unlocated = { version: 1, time: 5, arrivals: 3, totals: record(0).totals, receivedAt: 7 };
      assert.equal(
        await open.locations.commit(batchOf({ device: key, records: [], patches: [], state: unlocated })),
        undefined,
      );
      assert.deepEqual(await open.locations.states([key]), [unlocated]);
      const next = append(key, 2, [record(1), record(2)]);
      await open.locations.commit(batchOf(next));
      assert.deepEqual(await open.locations.states([key]), [next.state]);
    });

    it("needs the records no more once it says so, but for their last one, which is the state's", async () => {
      const { store: open, key } = await fresh(store);
      const records = [record(1), record(2)];
      const commit = { ...append(key, 1, records), records: [...records] };
      let said = 0;
      const emptied = () => {
        said++;
        commit.records.length = 0;
      };
      assert.equal(await open.locations.commit(batchOf(commit), emptied), undefined);
      assert.equal(said, 1);
      assert.deepEqual((await readAll(open, key)).json, jsonOf(records));
      assert.deepEqual(await open.locations.states([key]), [commit.state]);
    });

    it("answers a conflict for every device at another version, and writes nothing of the batch", async () => {
      const { store: open, account, key } = await fresh(store);
      const stale = await makeDevice(open, account.key);
      const ahead = await makeDevice(open, account.key);
      await open.locations.commit(batchOf(append(stale.key, 1, [record(1)])));
      const refused: RefusedReport = { device: key, receivedAt: now, time: 5, cause: "past", report: "{}" };
      const batch = {
        devices: [append(key, 1, [record(1)]), append(stale.key, 1, [record(2)]), append(ahead.key, 3, [record(3)])],
        refused: [refused],
      };
      const conflict = await open.locations.commit(batch);
      assert.deepEqual(conflict?.conflicts.toSorted(), [stale.key, ahead.key].sort());
      assert.equal((await readAll(open, key)).count, 0);
      assert.equal((await open.locations.states([key]))[0]?.version, 0);
      assert.equal((await readAll(open, stale.key)).count, 1);
      assert.deepEqual((await open.refused.page(key, 10)).reports, []);
      assert.equal(await open.locations.commit(batchOf(append(key, 1, [record(1)]))), undefined);
    });

    it("answers a conflict for a device that is gone or never was", async () => {
      const { store: open, key } = await fresh(store);
      await open.locations.commit(batchOf(append(key, 1, [record(1)])));
      assert.equal(await open.devices.remove(key), true);
      assert.deepEqual(await open.locations.commit(batchOf(append(key, 2, [record(2)]))), { conflicts: [key] });
      const never = 888_888_888;
      assert.deepEqual(await open.locations.commit(batchOf(append(never, 1, [record(2)]))), { conflicts: [never] });
    });

    it("lets one of two commits for the same version win", async () => {
      const { store: open, key } = await fresh(store);
      const commits = [1, 2, 3].map((second) => open.locations.commit(batchOf(append(key, 1, [record(second)]))));
      const answers = await Promise.all(commits);
      assert.equal(answers.filter((answer) => answer === undefined).length, 1);
      assert.equal((await readAll(open, key)).count, 1);
    });

    it("takes an empty batch", async () => {
      assert.equal(await store().locations.commit({ devices: [], refused: [] }), undefined);
    });

    it("gives back all refused reports in pages, the newest first", async () => {
      const { store: open, account, key } = await fresh(store);
      const other = await makeDevice(open, account.key);
      const causes = ["future", "past", "position"] as const;
      const report = (device: number, index: number): RefusedReport => ({
        device,
        receivedAt: now + index,
        time: index,
        cause: causes[index % 3] ?? "past",
        report: `{"n":"${index} ñ"}`,
      });
      await open.locations.commit({ devices: [], refused: [report(other.key, 0)] });
      for (let start = 0; start < 150; start += 50) {
        const refused = Array.from({ length: 50 }, (_, index) => report(key, start + index));
        await open.locations.commit({ devices: [], refused });
      }
      assert.deepEqual((await open.refused.page(key, 2)).reports, [report(key, 149), report(key, 148)]);
      const pages: RefusedReport[] = [];
      let after: number | undefined;
      do {
        const page = await open.refused.page(key, 40, after);
        assert.equal(page.dropped, undefined);
        pages.push(...page.reports);
        after = page.next;
      } while (after !== undefined);
      assert.deepEqual(
        pages,
        Array.from({ length: 150 }, (_, index) => report(key, 149 - index)),
      );
      assert.deepEqual((await open.refused.page(other.key, 10)).reports, [report(other.key, 0)]);
      assert.equal(await open.refused.prune(now + 100, 70), 70);
      assert.equal(await open.refused.prune(now + 100, 70), 31);
      assert.equal(await open.refused.prune(now + 100, 70), 0);
      assert.equal((await open.refused.page(key, 1000)).reports.length, 50);
      assert.deepEqual((await open.refused.page(other.key, 10)).reports, []);
    });

    it("keeps refused reports up to their bytes: the oldest make room, and that is told", async () => {
      const { store: open, account, key } = await fresh(store);
      const other = await makeDevice(open, account.key);
      const report = (device: number, index: number): RefusedReport => ({
        device,
        receivedAt: now + index,
        time: index,
        cause: "future",
        report: JSON.stringify({ n: index, text: "ñ".repeat(250_000) }),
      });
      await open.locations.commit({ devices: [], refused: [report(other.key, 0)] });
      for (let index = 0; index < 40; index++)
        await open.locations.commit({ devices: [], refused: [report(key, index)] });
      const { reports, dropped } = await open.refused.page(key, 100);
      assert.ok(reports.length >= 28 && reports.length <= 33, `${reports.length}`);
      assert.deepEqual(
        reports,
        Array.from(reports, (_, index) => report(key, 39 - index)),
      );
      const gone = 40 - reports.length;
      assert.deepEqual(dropped, { reports: gone, until: now + gone - 1 });
      assert.equal((await open.refused.page(other.key, 100)).dropped, undefined);
      // What went by its age makes no room that was counted before.
      while ((await open.refused.prune(now + 39, 10)) > 0);
      await open.locations.commit({ devices: [], refused: [report(key, 40)] });
      assert.deepEqual((await open.refused.page(key, 100)).reports, [report(key, 40), report(key, 39)]);
    });
  });
}

/** Reading of histories. */
export function historyContract(store: () => Store): void {
  describe("history", () => {
    it("has both ends of a range, and nothing of a device without records", async () => {
      const { store: open, key } = await fresh(store);
      assert.deepEqual(await readAll(open, key), { json: "", pieces: 0, count: 0, last: undefined });
      const records = [record(1), record(2), record(3), record(4)];
      await open.locations.commit(batchOf(append(key, 1, records)));
      const range = { ...everything, from: record(2).time, to: record(3).time, odometerStart: 100 };
      const read = await readAll(open, key, range);
      assert.equal(read.json, jsonOf([record(2), record(3)], 100));
      assert.deepEqual(read.last, { time: record(3).time, arrival: record(3).arrival });
      assert.equal((await readAll(open, key, { ...range, from: range.to + 1, to: range.from })).count, 0);
      assert.equal((await readAll(open, key, { ...range, limit: 0 })).count, 0);
    });

    it("gives what surrounds a place in parts where records are long, one at least", async () => {
      const { store: open, key } = await fresh(store);
      const records = Array.from({ length: 40 }, (_, second) =>
        record(second, { extras: `,"attributes":{"text":"${"x".repeat(second % 2 === 0 ? 48_000 : 100_000)}"` }),
      );
      await open.locations.commit(batchOf(append(key, 1, records)));
      const found: LocationRecord[] = [];
      let place = placeBefore(record(0).time);
      for (let more = true; more; ) {
        const context = await open.locations.context(key, place, 20);
        assert.ok(context.from.length > 0 && context.from.length < 5, `${context.from.length}`);
        assert.deepEqual(context.before, found.at(-1));
        found.push(...context.from);
        place = context.from.at(-1) ?? place;
        more = context.more;
      }
      assert.deepEqual(found, records);
    });

    it("goes on after a cursor, also between records of the same time", async () => {
      const { store: open, key } = await fresh(store);
      const records = [8, 6, 7, 5]
        .map((course, index) => record(1, { course, arrival: firstArrival + index }))
        .concat(record(2), record(3));
      await open.locations.commit(batchOf(append(key, 1, records.slice(0, 2))));
      await open.locations.commit(batchOf(append(key, 2, records.slice(2))));
      const texts: string[] = [];
      let after: RecordPlace | undefined;
      for (let page = 0; page < 10; page++) {
        const read = await readAll(open, key, { ...everything, limit: 1, ...(after && { after }) });
        if (read.last === undefined) break;
        texts.push(read.json);
        after = read.last;
      }
      assert.equal(texts.join(","), jsonOf(records));
    });

    it("comes in pieces of bounded size, and may be left early", async () => {
      const { store: open, key } = await fresh(store);
      const records = Array.from({ length: 6000 }, (_, second) => record(second));
      for (let part = 0; part < 3; part++)
        await open.locations.commit(batchOf(append(key, part + 1, records.slice(part * 2000, part * 2000 + 2000))));
      for await (const piece of open.locations.history(key, everything)) {
        assert.ok(piece.count < 6000 && piece.json.byteLength < 512 * 1024);
        break;
      }
      const read = await readAll(open, key);
      assert.ok(read.pieces > 2);
      assert.equal(read.count, 6000);
      assert.equal(read.json, jsonOf(records));
    });

    it("gives what was there when it began, once each, while commits go on", async () => {
      const { store: open, key } = await fresh(store);
      const records = Array.from({ length: 5000 }, (_, second) => record(second * 2));
      await open.locations.commit(batchOf(append(key, 1, records)));
      let version = 2;
      const times: number[] = [];
      const decoder = new TextDecoder();
      for await (const piece of open.locations.history(key, everything)) {
        for (const { dateTime } of JSON.parse(`[${decoder.decode(piece.json)}]`)) times.push(Date.parse(dateTime));
        const late = record(version * 500 + 1);
        await open.locations.commit(batchOf(append(key, version, [late])));
        version++;
      }
      assert.deepEqual(
        times,
        [...new Set(times)].sort((a, b) => a - b),
      );
      const seen = new Set(times);
      assert.ok(records.every(({ time }) => seen.has(time)));
    });
  });
}

/** What of a device goes with it. */
export function removalContract(store: () => Store): void {
  describe("removed devices", () => {
    it("go with their history, and their keys never come back", async () => {
      const account = await makeAccount(store());
      const device = await makeDevice(store(), account.key, { aliases: [unique("alias-")] });
      await store().locations.commit({
        ...batchOf(append(device.key, 1, [record(1)])),
        refused: [{ device: device.key, receivedAt: now, time: 1, cause: "past", report: "{}" }],
      });
      assert.equal(await store().devices.remove(device.key), true);
      assert.equal(await store().devices.remove(device.key), false);
      assert.equal(await store().devices.find(device.id), undefined);
      assert.equal(await store().devices.identify([device.id, ...device.aliases]), undefined);
      assert.equal((await readAll(store(), device.key)).count, 0);
      assert.deepEqual(await store().locations.context(device.key, placeBefore(0), 5), { from: [], more: false });
      assert.deepEqual((await store().refused.page(device.key, 5)).reports, []);
      assert.equal((await store().locations.states([device.key]))[0]?.version, 0);
      const again = await makeDevice(store(), account.key, { id: device.id, aliases: device.aliases });
      assert.notEqual(again.key, device.key);
      assert.equal((await readAll(store(), again.key)).count, 0);
    });
  });
}
