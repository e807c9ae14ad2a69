import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Pace } from "./pace.ts";

describe("the pace of catching up", () => {
  it("gives a device its turn half a second after its first late record, however many follow", () => {
    const pace = new Pace();
    pace.late(1, 1, 1000);
    pace.late(1, 1, 1400);
    assert.equal(pace.dueAt(), 1500);
    assert.equal(pace.next(1499), undefined);
    assert.equal(pace.next(1500), 1);
    assert.equal(pace.next(1500), undefined);
    assert.equal(pace.dueAt(), undefined);
  });

  it("lets a device pause ten times as long as its turn took, and the others have theirs", () => {
    const pace = new Pace();
    pace.took(1, 200, 1000);
    pace.late(1, 1, 1100);
    pace.late(2, 1, 1200);
    assert.equal(pace.behind, 2);
    assert.equal(pace.next(1700), 2);
    assert.equal(pace.next(2999), undefined);
    assert.equal(pace.next(3000), 1);
  });

  it("rests three times as long as each turn took", () => {
    const pace = new Pace();
    pace.late(1, 1, 0);
    pace.late(2, 1, 0);
    assert.equal(pace.next(1000), 1);
    pace.took(1, 100, 1100);
    assert.equal(pace.dueAt(), 1400);
    assert.equal(pace.next(1399), undefined);
    assert.equal(pace.next(1400), 2);
  });

  it("gives turns in the order in which devices fell behind", () => {
    const pace = new Pace();
    for (const device of [3, 1, 2]) pace.late(device, 1, device);
    assert.deepEqual([pace.next(1000), pace.next(1000), pace.next(1000)], [3, 1, 2]);
  });

  it("lets accounts take turns, however many devices of one are behind", () => {
    const pace = new Pace();
    for (const device of [1, 2, 3]) pace.late(device, 10, 0);
    pace.late(4, 20, 0);
    assert.deepEqual([pace.next(1000), pace.next(1000), pace.next(1000), pace.next(1000)], [1, 4, 2, 3]);
    assert.equal(pace.behind, 0);
  });

  it("has a device once, though its account was not known at first", () => {
    const pace = new Pace();
    pace.late(1, 0, 0);
    pace.late(1, 7, 10);
    assert.equal(pace.behind, 1);
    assert.equal(pace.next(10_000), 1);
    assert.equal(pace.next(20_000), undefined);
  });
});
