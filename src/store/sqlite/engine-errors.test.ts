import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreUnavailable } from "../../ports/store.ts";
import { ByteSink } from "../records/sink.ts";
import { asDamage, isDamage } from "./chunk-rows.ts";
import { EngineError, failureOf, storeError } from "./engine-errors.ts";

test("memory that runs out while a device's records are read is no damage of the device", () => {
  const sink = new ByteSink(1);
  let error: unknown;
  assert.throws(
    () => sink.reserve(Number.MAX_SAFE_INTEGER - 1),
    (thrown) => {
      error = thrown;
      return true;
    },
  );
  assert.equal(isDamage(error), false);
  const head = { device: 1, seq: 1, first: 1, last: 1, count: 1, bytes: 1, sealed: false, asOf: 1 };
  assert.ok(!(asDamage(error, head) instanceof EngineError));
  const { message, code } = failureOf(error);
  const told = storeError(message, code);
  assert.ok(told instanceof StoreUnavailable && told.trouble === "exhausted");
});
