import assert from "node:assert/strict";
import { it } from "node:test";
import type { DeviceKey } from "../../../src/model/device.ts";
import type { PositionStore } from "../../../src/ports/positions.ts";
import type { PositionHarness, PositionsUnderTest } from "./harness.ts";
import { said } from "./said.ts";

type Span = { readonly from: number; readonly to: number };

/** What a store gives now of a device that was not followed. */
export async function unfollowedOf(
  store: PositionStore,
  own: DeviceKey,
  how: "all" | "new" = "all",
): Promise<readonly Span[]> {
  const found: Span[] = [];
  for await (const { spans } of store.unfollowed(how))
    for (const { device, from, to } of spans) if (device === own) found.push({ from, to });
  return found;
}

/** Whether one of these spans has the moment of a second. */
export function covers(spans: readonly Span[], second: number): boolean {
  const { time } = said(second);
  return spans.some(({ from, to }) => from <= time && to >= time);
}

/** What an engine promises about what was appended and not followed. */
export function unfollowedContract(
  harness: () => PositionHarness,
  withStore: (work: (store: PositionsUnderTest, device: DeviceKey) => Promise<void>) => Promise<void>,
): void {
  it("is known after a start, and after a kill", () =>
    withStore(async (store, own) => {
      const first = await store.append([{ device: own, records: [said(1), said(2)] }]);
      const second = await store.append([{ device: own, records: [said(5000), said(4000)] }]);
      assert.ok(second > first);
      store.followed(first);
      await store.close();
      const again = await harness().open();
      const spans = await unfollowedOf(again, own);
      assert.ok(covers(spans, 4000) && covers(spans, 5000));
      assert.ok(!covers(spans, 1));
      await again.kill();
      await again.close();
      const third = await harness().open();
      assert.ok(covers(await unfollowedOf(third, own), 4000));
      third.followed(await third.append([]));
      await third.close();
      const fourth = await harness().open();
      assert.deepEqual(await unfollowedOf(fourth, own), []);
      await fourth.close();
    }));

  it("is told once, and what this process appended itself is not told", () =>
    withStore(async (store, own) => {
      await store.append([{ device: own, records: [said(1)] }]);
      await store.close();
      const again = await harness().open();
      await again.append([{ device: own + 100_000, records: [said(2)] }]);
      assert.ok(covers(await unfollowedOf(again, own), 1));
      await again.append([{ device: own, records: [said(3)] }]);
      for (const how of ["new", "all"] as const) assert.deepEqual(await unfollowedOf(again, own, how), []);
      again.followed(await again.append([]));
      await again.close();
    }));

  it("of other processes is asked for devices in any order", () =>
    withStore(async (store, own) => {
      assert.equal((await store.pending([own, own + 1, own])).length, 3);
      assert.deepEqual(await store.pending([]), []);
    }));

  it("of shares that are left is not noted as followed later", () =>
    withStore(async (store, own) => {
      await store.left([], true);
      store.followed(await store.append([{ device: own, records: [said(1)] }]));
      assert.deepEqual(await unfollowedOf(store, own), []);
    }));
}
