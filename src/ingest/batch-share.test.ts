import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { BatchShare } from "./batch-share.ts";

test("a share follows what a report costs: batches soon take neither too long nor too little", () => {
  fc.assert(
    fc.property(fc.double({ min: 0.0025, max: 0.6, noNaN: true }), (msEach) => {
      const share = BatchShare.ofLateReports();
      for (let batch = 0; batch < 20; batch++) share.took(share.amount, share.amount * msEach);
      // It doubles below 5 ms and halves above 10, so it stays between.
      const ms = share.amount * msEach;
      assert.ok(ms <= 11 && (ms >= 4.5 || share.amount === 16_384), `${ms} ms`);
    }),
  );
});

test("where nobody else waits, batches of late reports may take longer", () => {
  const share = BatchShare.ofLateReports();
  share.isAlone = true;
  const took = () => share.took(share.amount, share.amount * 0.02);
  for (let batch = 0; batch < 20; batch++) took();
  assert.ok(share.amount * 0.02 > 20, `${share.amount}`);
  share.isAlone = false;
  for (let batch = 0; batch < 3; batch++) took();
  assert.ok(share.amount * 0.02 < 10, `${share.amount}`);
});

test("there is always room for some, and a batch without late reports says nothing of them", () => {
  const share = BatchShare.ofLateReports();
  for (let batch = 0; batch < 50; batch++) share.took(1, 10_000);
  assert.equal(share.amount, 16);
  share.took(0, 10_000);
  share.took(0, 1);
  share.took(8, 1);
  assert.equal(share.amount, 16);
});

test("a disk that takes its time for every commit is not taken for late reports that cost much", () => {
  const share = BatchShare.ofLateReports();
  const took = () => share.took(share.amount, 90 + share.amount * 0.01);
  for (let batch = 0; batch < 20; batch++) took();
  assert.ok(share.amount >= 1024, `${share.amount}`);
  // Nor is a disk that was slow once believed to be so for ever.
  share.took(1, 5);
  for (let batch = 0; batch < 20; batch++) share.took(share.amount, share.amount * 0.05);
  assert.ok(share.amount <= 820, `${share.amount}`);
});

test("nor where each of the devices sends more than the fewest, one of which a batch always has", () => {
  const share = BatchShare.ofLateReports();
  const took = () => share.took(Math.max(720, share.amount), 65 + share.amount * 0.01);
  for (let batch = 0; batch < 20; batch++) took();
  assert.ok(share.amount >= 1024, `${share.amount}`);
});

test("trackers that pack many reports into a message have more than one message in a batch: what fits seldom fills a share", () => {
  for (const packed of [20, 30, 50, 100]) {
    const share = BatchShare.ofLateReports();
    const took = (diskMs: number) => {
      const reports = Math.max(packed, Math.floor(share.amount / packed) * packed);
      share.took(reports, diskMs + reports * 0.01);
    };
    for (let batch = 0; batch < 10; batch++) took(150);
    for (let batch = 0; batch < 20; batch++) took(5);
    assert.ok(share.amount >= 1024, `${share.amount} with ${packed} in a message`);
  }
});

test("on a disk that needs a second for anything, a backlog goes on", () => {
  for (const diskMs of [240, 1000, 5000]) {
    const share = BatchShare.ofLateReports();
    for (let batch = 0; batch < 20; batch++) share.took(share.amount, diskMs + share.amount * 0.01);
    assert.ok(share.amount >= 1024, `${share.amount} on a disk that needs ${diskMs} ms`);
  }
});

test("late reports that really take that long are at most twice the fewest", () => {
  const share = BatchShare.ofLateReports();
  for (let batch = 0; batch < 50; batch++) {
    share.took(share.amount, share.amount * 30);
    assert.ok(batch < 10 || share.amount <= 32, `${share.amount}`);
  }
});

test("one slow batch with a single late report does not keep the share at its least, where batches take a steady half of what is long", () => {
  for (const others of [10, 12, 15, 19]) {
    const share = BatchShare.ofLateReports();
    for (let batch = 0; batch < 2; batch++) share.took(1, 500);
    for (let batch = 0; batch < 20; batch++) share.took(share.amount, others + share.amount * 0.01);
    assert.ok(share.amount >= 512, `${share.amount} beside ${others} ms for others`);
  }
});

test("where half of a batch is postponed, a share grows by the cost of the other half, also from its least", () => {
  const share = BatchShare.ofLateReports();
  for (let batch = 0; batch < 2; batch++) share.took(1, 500);
  for (let batch = 0; batch < 20; batch++) share.took(share.amount, 7 + share.amount * 0.01, share.amount / 2);
  assert.ok(share.amount >= 256, `${share.amount}`);
});

test("slow batches of which little was committed halve a share and do not drop it to that little", () => {
  const share = BatchShare.ofLateReports();
  for (let batch = 0; batch < 2; batch++) share.took(256, 500, 2);
  assert.equal(share.amount, 128);
});

test("a disk that stalls now and then does not keep a share small", () => {
  const share = BatchShare.ofLateReports();
  for (let batch = 0; batch < 60; batch++) share.took(share.amount, share.amount * 0.01 + (batch % 2 === 0 ? 80 : 5));
  assert.ok(share.amount >= 256, `${share.amount}`);
});

test("late reports that are cheap in every other batch do not make a share grow until the others take seconds", () => {
  const share = BatchShare.ofLateReports();
  let longest = 0;
  for (let batch = 0; batch < 60; batch++) {
    const ms = share.amount * (batch % 2 === 0 ? 1 : 0.0002);
    longest = Math.max(longest, ms);
    share.took(share.amount, ms);
  }
  assert.ok(longest <= 512, `${longest}`);
});

test("bytes have a share by the same rule", () => {
  const most = 8 * 1024 * 1024;
  const share = BatchShare.ofBytes(most);
  for (let batch = 0; batch < 20; batch++) share.took(share.amount, share.amount / 10_000);
  assert.ok(share.amount <= 410_000 && share.amount >= 190_000, `${share.amount}`);
  for (let batch = 0; batch < 20; batch++) share.took(share.amount, 1);
  assert.equal(share.amount, most);
});

test("on a slow disk whose times vary, a share still fills much of the time that the disk takes", () => {
  const share = BatchShare.ofLateReports();
  const batches = 200;
  let reports = 0;
  for (let batch = 0; batch < batches; batch++) {
    reports += share.amount;
    // 60 to 120 ms, in no order.
    share.took(share.amount, 60 + ((batch * 37) % 61) + share.amount * 0.05);
  }
  assert.ok(reports / batches > 256, `${reports / batches}`);
});
