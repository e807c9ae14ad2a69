import assert from "node:assert/strict";
import { it } from "node:test";
import { waitMs } from "./backoff.ts";

it("waits longer after each failure, to a limit", () => {
  assert.deepEqual(
    [1, 2, 3, 6, 60].map((failures) => waitMs(failures, 1)),
    [1000, 2000, 4000, 30_000, 30_000],
  );
  assert.equal(waitMs(1, 0), 500);
});
