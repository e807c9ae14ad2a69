import assert from "node:assert/strict";
import { test } from "node:test";
import { ChangedSince, StoreUnavailable } from "../ports/store.ts";
import { createChanges } from "./locks.ts";

test("a change is judged again for as long as others are faster, but not for ever, and before the next one", async () => {
  const change = createChanges<string>();
  const order: string[] = [];
  const faster = (name: string, times: number) => {
    let left = times;
    return change("a", async () => {
      order.push(name);
      if (left-- > 0) throw new ChangedSince();
      return name;
    });
  };
  assert.deepEqual(await Promise.all([faster("1", 2), faster("2", 0)]), ["1", "2"]);
  assert.deepEqual(order, ["1", "1", "1", "2"]);
  await assert.rejects(faster("3", Number.POSITIVE_INFINITY), StoreUnavailable);
  assert.ok(order.length < 100);
  const other = change("a", () => Promise.reject(new RangeError("of its own")));
  await assert.rejects(other, RangeError);
});
