import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { runs } from "../support/runs.ts";
import type { PositionHarness, PositionsUnderTest } from "./positions/harness.ts";
import { propertyContract } from "./positions/property.ts";
import { renderContract } from "./positions/render.ts";
import { everything, readAll, said, sortedOnce, start, unlocated } from "./positions/said.ts";
import { unfollowedContract } from "./positions/unfollowed.ts";

/**
 * Everything that the port promises, for any engine. What only one engine can be brought to is in that engine's own
 * tests.
 */
export function positionContract(
  engine: string,
  make: () => Promise<PositionHarness>,
  { skip = false, histories = runs(150) }: { readonly skip?: string | false; readonly histories?: number } = {},
): void {
  describe(`position contract: ${engine}`, { skip }, () => {
    let made: PositionHarness | undefined;
    let device = 1;
    const harness = () => {
      assert.ok(made, "the harness is made");
      return made;
    };
    const withStore = async (work: (store: PositionsUnderTest, device: number) => Promise<void>) => {
      const store = await harness().open();
      try {
        await work(store, device++);
      } finally {
        await store.close();
      }
    };
    before(async () => {
      made = await make();
    });
    after(() => made?.dispose());

    describe("reading", () => {
      it("gives nothing of a device that never reported", () =>
        withStore(async (store, own) => {
          assert.deepEqual(await store.read(own, { ...everything, limit: 10 }), { records: [], unreadable: [] });
        }));

      it("gives what was appended at once, and after everything was settled and after a start", () =>
        withStore(async (store, own) => {
          const records = Array.from({ length: 3000 }, (_, second) => said(second));
          for (let at = 0; at < records.length; at += 1000)
            await store.append([{ device: own, records: records.slice(at, at + 1000) }]);
          assert.deepEqual((await readAll(store, own)).records, records);
          await store.settle();
          assert.deepEqual((await readAll(store, own)).records, records);
          await store.close();
          const again = await harness().open();
          assert.deepEqual((await readAll(again, own, { ...everything, limit: 700 })).records, records);
          await again.close();
        }));

      it("keeps devices apart", () =>
        withStore(async (store, own) => {
          const other = own + 100_000;
          await store.append([
            { device: other, records: [said(1)] },
            { device: own, records: [said(2), said(3)] },
          ]);
          await store.append([{ device: own, records: [] }]);
          await store.append([]);
          for (const settle of [false, true]) {
            if (settle) await store.settle();
            assert.deepEqual((await readAll(store, own)).records, [said(2), said(3)]);
            assert.deepEqual((await readAll(store, other)).records, [said(1)]);
          }
        }));

      it("orders records of one moment by their arrival, and drops repeats", () =>
        withStore(async (store, own) => {
          const one = said(5, { speed: 1 });
          const two = said(5, { speed: 2 });
          const three = said(5, { speed: 3 });
          const fromMemory = said(5, { speed: 2, extras: ',"attributes":{"archive":"true"' });
          await store.append([{ device: own, records: [two, said(9), one] }]);
          await store.settle();
          await store.append([{ device: own, records: [one, fromMemory, three, said(1), two] }]);
          for (const settle of [false, true]) {
            if (settle) await store.settle();
            assert.deepEqual((await readAll(store, own)).records, [said(1), two, one, three, said(9)]);
          }
        }));

      it("gives many records of one moment page by page", () =>
        withStore(async (store, own) => {
          const records = Array.from({ length: 9000 }, (_, speed) => said(7, { speed: speed / 100 }));
          await store.append([{ device: own, records: records.slice(0, 6000) }]);
          await store.settle();
          await store.append([{ device: own, records: records.slice(5000) }]);
          for (const settle of [false, true]) {
            if (settle) await store.settle();
            assert.deepEqual((await readAll(store, own, { ...everything, limit: 2500 })).records, records);
          }
        }));

      it("gives the first records of spans of several devices, as it gives each of them", () =>
        withStore(async (store, own) => {
          const other = own + 100_000;
          const records = Array.from({ length: 200 }, (_, second) => said(second));
          await store.append([
            { device: own, records },
            { device: other, records: records.slice(0, 9) },
          ]);
          const spans = [
            { device: own, from: said(1).time, to: said(3).time },
            { device: other, from: said(0).time, to: said(100).time },
            { device: own + 200_000, from: 0, to: said(100).time },
            { device: own, from: said(5).time, to: said(150).time },
          ];
          const limit = 40;
          for (const settle of [false, true]) {
            if (settle) await store.settle();
            const each = await Promise.all(
              spans.map(({ device, from, to }) => store.read(device, { from, to, limit })),
            );
            assert.deepEqual(await store.readEach(spans, limit), each);
            assert.deepEqual(await store.readEach([], limit), []);
          }
        }));

      it("ends a page of long records before its limit", () =>
        withStore(async (store, own) => {
          const note = "x".repeat(30_000);
          const records = Array.from({ length: 100 }, (_, at) =>
            said(at, { extras: `,"attributes":{"note":"${note}${at}"` }),
          );
          await store.append([{ device: own, records }]);
          await store.settle();
          const page = await store.read(own, { ...everything, limit: 100 });
          assert.ok(page.records.length < 100 && page.next !== undefined);
          assert.deepEqual((await readAll(store, own)).records, records);
        }));

      it("keeps what is said as it was said: texts, odd numbers and times", () =>
        withStore(async (store, own) => {
          const records = [
            said(-1e9, { latitude: 90, longitude: 180 }),
            said(0.25),
            said(1, { extras: ',"attributes":{"a":"ñ\\u0001","b":"true","c":"1e400"' }),
            said(1.5, { extras: ',"battery":1e-7,"attributes":{"a":"\\u0000","b":"\\ud800","c":"💡","a":"again"' }),
            unlocated(2),
            said(3, { latitude: 1e-9, longitude: -0.123456789 }),
            said(1e10),
          ];
          await store.append([{ device: own, records }]);
          for (const settle of [false, true]) {
            if (settle) await store.settle();
            assert.deepEqual((await readAll(store, own)).records, records);
          }
        }));
    });

    describe("rendering", () => renderContract(withStore));

    describe("late records", () => {
      it("lie where they belong, however they come", () =>
        withStore(async (store, own) => {
          const all = Array.from({ length: 4000 }, (_, second) => said(second));
          const orders = [
            all.filter((_, at) => at % 2 === 0),
            all.filter((_, at) => at % 4 === 1).toReversed(),
            all.filter((_, at) => at % 8 === 3),
            all.filter((_, at) => at % 3 === 0),
            all.toReversed(),
          ];
          const came = [];
          for (const records of orders) {
            await store.append([{ device: own, records }]);
            came.push(...records);
            await store.settle();
            assert.deepEqual((await readAll(store, own)).records, sortedOnce(came));
          }
        }));

      it("lie where they belong when they come newest first, a few at a time", () =>
        withStore(async (store, own) => {
          const all = Array.from({ length: 1200 }, (_, second) => said(second));
          for (let end = all.length; end > 0; end -= 100) {
            await store.append([{ device: own, records: all.slice(end - 100, end) }]);
            await store.settle();
          }
          assert.deepEqual((await readAll(store, own)).records, all);
        }));
    });

    describe("deletion", () => {
      it("takes what is older, and what comes of that time later", () =>
        withStore(async (store, own) => {
          const all = Array.from({ length: 3000 }, (_, second) => said(second));
          await store.append([{ device: own, records: all.filter((_, at) => at % 2 === 0) }]);
          await store.settle();
          await store.append([{ device: own, records: all.slice(100, 200) }]);
          const moment = start + 1500_000;
          await store.deleteBefore(own, moment);
          await store.deleteBefore(own, moment - 1000);
          await store.append([{ device: own, records: all }]);
          for (const settle of [false, true]) {
            if (settle) await store.settle();
            assert.deepEqual((await readAll(store, own)).records, all.slice(1500));
          }
        }));

      it("of a device takes everything, for ever", () =>
        withStore(async (store, own) => {
          await store.append([{ device: own, records: [said(1)] }]);
          await store.settle();
          await store.deleteBefore(own, Number.POSITIVE_INFINITY);
          await store.append([{ device: own, records: [said(2)] }]);
          await store.settle();
          await store.close();
          const again = await harness().open();
          assert.deepEqual((await readAll(again, own)).records, []);
          await again.close();
        }));
    });

    describe("what was not followed", () => unfollowedContract(harness, withStore));

    describe("at the same time", () => {
      it("appending, settling, deleting and reading get along", () =>
        withStore(async (store, own) => {
          const all = Array.from({ length: 2000 }, (_, second) => said(second));
          const work: Promise<unknown>[] = [];
          for (let at = 0; at < all.length; at += 50) {
            work.push(store.append([{ device: own, records: all.slice(at, at + 50) }]));
            if (at % 500 === 250) work.push(store.settle());
            if (at === 1000) work.push(store.deleteBefore(own, start + 100_000));
            work.push(readAll(store, own).then(({ records }) => assert.deepEqual(records, sortedOnce(records))));
          }
          await Promise.all(work);
          assert.deepEqual((await readAll(store, own)).records, all.slice(100));
        }));
    });

    propertyContract(harness, histories);
  });
}
