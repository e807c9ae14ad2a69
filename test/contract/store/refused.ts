import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RefusedReport } from "../../../src/model/refused.ts";
import type { Store } from "../../../src/ports/store.ts";
import { makeAccount, makeDevice, now } from "./harness.ts";

/** Reports that are kept as evidence. */
export function refusedContract(store: () => Store): void {
  const fresh = async () => {
    const { key: account } = await makeAccount(store());
    return { key: (await makeDevice(store(), account)).key, other: (await makeDevice(store(), account)).key };
  };

  describe("refused reports", () => {
    it("are given back in pages, the newest first", async () => {
      const { key, other } = await fresh();
      const causes = ["future", "past", "position"] as const;
      const report = (device: number, index: number): RefusedReport => ({
        device,
        receivedAt: now + index,
        time: index,
        cause: causes[index % 3] ?? "past",
        report: `{"n":"${index} ñ"}`,
      });
      const { refused } = store();
      assert.equal(await refused.add([]), 0);
      assert.equal(await refused.add([report(other, 0)]), 0);
      for (let start = 0; start < 150; start += 50)
        await refused.add(Array.from({ length: 50 }, (_, index) => report(key, start + index)));
      assert.deepEqual((await refused.page(key, 2)).reports, [report(key, 149), report(key, 148)]);
      const pages: RefusedReport[] = [];
      let after: number | undefined;
      do {
        const page = await refused.page(key, 40, after);
        assert.equal(page.dropped, undefined);
        pages.push(...page.reports);
        after = page.next;
      } while (after !== undefined);
      assert.deepEqual(
        pages,
        Array.from({ length: 150 }, (_, index) => report(key, 149 - index)),
      );
      assert.deepEqual((await refused.page(other, 10)).reports, [report(other, 0)]);
      assert.equal(await refused.prune(now + 100, 70), 70);
      assert.equal(await refused.prune(now + 100, 70), 31);
      assert.equal(await refused.prune(now + 100, 70), 0);
      assert.equal((await refused.page(key, 1000)).reports.length, 50);
      assert.deepEqual((await refused.page(other, 10)).reports, []);
    });

    it("have room up to their bytes: the oldest go, and that is told", async () => {
      const { key, other } = await fresh();
      const report = (device: number, index: number): RefusedReport => ({
        device,
        receivedAt: now + index,
        time: index,
        cause: "future",
        report: JSON.stringify({ n: index, text: "ñ".repeat(250_000) }),
      });
      const { refused } = store();
      await refused.add([report(other, 0)]);
      let gone = 0;
      for (let index = 0; index < 40; index += 2)
        gone += await refused.add([report(key, index), report(key, index + 1)]);
      const { reports, dropped } = await refused.page(key, 100);
      assert.ok(reports.length >= 28 && reports.length <= 33, `${reports.length}`);
      assert.deepEqual(
        reports,
        Array.from(reports, (_, index) => report(key, 39 - index)),
      );
      assert.equal(gone, 40 - reports.length);
      assert.deepEqual(dropped, { reports: gone, until: now + gone - 1 });
      assert.equal((await refused.page(other, 100)).dropped, undefined);
      // What went by its age makes no room that was counted before.
      while ((await refused.prune(now + 39, 10)) > 0);
      await refused.add([report(key, 40)]);
      assert.deepEqual((await refused.page(key, 100)).reports, [report(key, 40), report(key, 39)]);
    });

    it("of devices that are gone are left out, and go with their device", async () => {
      const { key, other } = await fresh();
      const report = (device: number): RefusedReport => ({
        ...{ device, receivedAt: now, time: 1, cause: "past", report: "{}" },
      });
      await store().refused.add([report(key), report(other)]);
      await store().devices.remove(key);
      await store().refused.add([report(other), report(key), report(999_999_999)]);
      assert.deepEqual((await store().refused.page(key, 5)).reports, []);
      assert.equal((await store().refused.page(other, 5)).reports.length, 2);
    });
  });
}
