import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreUnavailable } from "../../ports/store.ts";
import { ByteSink } from "../records/sink.ts";
import { asDamage, isDamage } from "./chunk-rows.ts";
import { EngineError, failureOf, storeError } from "./engine-errors.ts";

test("memory that runs out while a device's records are read is no damage of the device", () => {
  const most = Number.MAX_SAFE_INTEGER - 1;
  const head = { device: 1, seq: 1, first: 1, last: 1, count: 1, bytes: 1, sealed: false, asOf: 1 };
  // V8 and Node say it in different words.
  for (const reserve of [() => new ByteSink(1).reserve(most), () => Buffer.allocUnsafe(most)]) {
    const error = thrownBy(reserve);
    assert.equal(isDamage(error), false);
    assert.ok(!(asDamage(error, head) instanceof EngineError));
    const { message, code } = failureOf(error);
    const told = storeError(message, code);
    assert.ok(told instanceof StoreUnavailable && told.trouble === "exhausted");
  }
});

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return assert.fail("nothing was thrown");
}
