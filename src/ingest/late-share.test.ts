import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { LateShare } from "./late-share.ts";

test("a share follows what a report costs: batches soon take neither too long nor too little", () => {
  fc.assert(
    fc.property(fc.double({ min: 0.0025, max: 0.6, noNaN: true }), (msEach) => {
      const share = new LateShare();
      for (let batch = 0; batch < 20; batch++) share.took(share.reports, share.reports * msEach);
      // It doubles below 20 ms and halves above 40, so it stays between.
      const ms = share.reports * msEach;
      assert.ok(ms <= 41 && (ms >= 19 || share.reports === 16_384), `${ms} ms`);
    }),
  );
});

test("there is always room for some, and a batch without late reports says nothing of them", () => {
  const share = new LateShare();
  for (let batch = 0; batch < 50; batch++) share.took(1, 10_000);
  assert.equal(share.reports, 64);
  share.took(0, 10_000);
  share.took(0, 1);
  share.took(10, 1);
  assert.equal(share.reports, 64);
});

test("a disk that takes its time for every commit is not taken for late reports that cost much", () => {
  const share = new LateShare();
  const took = () => share.took(share.reports, 90 + share.reports * 0.01);
  for (let batch = 0; batch < 20; batch++) took();
  assert.ok(share.reports >= 1024, `${share.reports}`);
  // Nor is a disk that was slow once believed to be so for ever.
  share.took(1, 5);
  for (let batch = 0; batch < 20; batch++) share.took(share.reports, share.reports * 0.05);
  assert.ok(share.reports <= 820, `${share.reports}`);
});

test("nor where each of the devices sends more than the fewest, one of which a batch always has", () => {
  const share = new LateShare();
  const took = () => share.took(Math.max(720, share.reports), 65 + share.reports * 0.01);
  for (let batch = 0; batch < 20; batch++) took();
  assert.ok(share.reports >= 1024, `${share.reports}`);
});
