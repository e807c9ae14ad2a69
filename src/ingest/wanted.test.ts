import assert from "node:assert/strict";
import { test } from "node:test";
import type { Draft } from "./draft.ts";
import { wantedFor } from "./wanted.ts";

const draftsAt = (seconds: readonly number[]) => seconds.map((second) => ({ time: second * 1000 }) as Draft);

test("how far apart records lie around late reports is known though too many to be counted lie between these and one in order", () => {
  // A record each 10 s; the index counts no more than 100,000.
  const countAbout = (_device: number, from: number, to: number) => {
    const count = Math.floor(to / 10_000) - Math.ceil(from / 10_000) + 1;
    return count > 100_000 ? Number.POSITIVE_INFINITY : count;
  };
  const wanted = (seconds: readonly number[]) => wantedFor({ countAbout }, 1, draftsAt(seconds));
  const inOrder = 5_000_000;
  // One beside each stored record: to read these all is less than a stretch around each.
  const dense = Array.from({ length: 500 }, (_, index) => 5 + index * 10);
  assert.deepEqual(wanted([...dense, inOrder]), { time: 5000, limit: 501 });
  // These have one stretch.
  assert.deepEqual(wanted([5, 15, inOrder]), { time: 5000, limit: 8, further: [inOrder * 1000] });
  assert.deepEqual(wanted([5, 2_500_000, inOrder]), {
    time: 5000,
    limit: 8,
    further: [2_500_000_000, inOrder * 1000],
  });
});
