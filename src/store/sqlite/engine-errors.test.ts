import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreUnavailable } from "../../ports/store.ts";
import { storeError } from "../failures.ts";
import { ByteSink } from "../positions/sink.ts";
import { damageOf, failureOf, isDamage, sqliteError } from "./engine-errors.ts";

test("memory that runs out while a device's records are read is no damage of the device", () => {
  const most = Number.MAX_SAFE_INTEGER - 1;
  // V8 and Node say it in different words.
  for (const reserve of [() => new ByteSink(1).reserve(most), () => Buffer.allocUnsafe(most)]) {
    const error = thrownBy(reserve);
    assert.equal(isDamage(error), false);
    assert.equal(damageOf(error), undefined);
    const told = storeError(failureOf(error));
    assert.ok(told instanceof StoreUnavailable && told.trouble === "exhausted");
  }
});

test("result codes say what stands behind a failure", () => {
  const troubles = [5, 13, 10 | (12 << 8), 11, 7, 19].map((code) => sqliteError("no", code).trouble);
  assert.deepEqual(troubles, ["down", "down", "damaged", "damaged", "exhausted", undefined]);
});

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return assert.fail("nothing was thrown");
}
