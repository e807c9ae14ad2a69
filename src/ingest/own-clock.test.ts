import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { OwnClock, type Sight } from "./own-clock.ts";

/** Our two clocks, and accounts with devices. */
class World {
  readonly clock = new OwnClock();
  now = 1_000_000;
  wall = Date.UTC(2026, 5, 1);

  pass(ms: number): void {
    this.now += ms;
    this.wall += ms;
  }

  report(account: number, devices: number, sight: Sight, known = true, first = 0): void {
    this.clock.active(account, this.now);
    for (let index = first; index < first + devices; index++)
      this.clock.saw(account * 10_000 + index, account, sight, known, this.now, this.wall);
  }
}

describe("our own clock", () => {
  it("is doubted where most devices of most accounts seem to be in the future, and believed when they do not", () => {
    const world = new World();
    for (const account of [1, 2, 3]) world.report(account, 2, "near");
    world.wall -= 86_400_000 * 400;
    world.report(1, 1, "ahead");
    assert.deepEqual([world.clock.standing, world.clock.withholds(true, world.now)], ["right", true]);
    for (const account of [1, 2, 3]) world.report(account, 2, "ahead");
    assert.deepEqual([world.clock.standing, world.clock.withholds(false, world.now)], ["slow", true]);
    world.pass(3_600_000);
    assert.equal(world.clock.standing, "slow");
    world.wall += 86_400_000 * 400;
    world.report(1, 1, "near");
    assert.deepEqual(
      [world.clock.standing, world.clock.withholds(true, world.now), world.clock.open],
      ["right", false, false],
    );
  });

  it("is doubted after a restart too, and with one account alone", () => {
    const world = new World();
    world.report(1, 3, "ahead");
    assert.equal(world.clock.standing, "slow");
  });

  it("is not doubted for ten wrong trackers of one account, nor for thousands of invented reports", () => {
    const world = new World();
    for (const account of [1, 2]) world.report(account, 5, "near");
    world.report(3, 10, "ahead");
    world.report(3, 5000, "ahead", false);
    assert.deepEqual([world.clock.standing, world.clock.withholds(true, world.now)], ["right", false]);
    // The others sleep, but they were there today.
    world.pass(6 * 3_600_000);
    world.report(3, 10, "ahead");
    assert.equal(world.clock.standing, "right");
  });

  it("is not doubted for an account's new trackers while those that were fine before are", () => {
    const world = new World();
    world.report(1, 2, "near");
    world.report(1, 50, "ahead", false, 100);
    assert.equal(world.clock.standing, "right");
  });

  it("lets a lone device's reports wait for an hour, and then be refused", () => {
    const world = new World();
    world.report(1, 1, "ahead");
    assert.deepEqual([world.clock.withholds(true, world.now), world.clock.withholds(false, world.now)], [true, false]);
    world.pass(3_600_001);
    world.report(1, 1, "ahead");
    assert.equal(world.clock.withholds(true, world.now), false);
  });

  it("is said to be fast where most report long ago, and nothing is withheld for that", () => {
    const world = new World();
    for (const account of [1, 2]) world.report(account, 3, "behind");
    assert.deepEqual([world.clock.standing, world.clock.withholds(true, world.now)], ["fast", false]);
    for (const account of [1, 2]) world.report(account, 3, "near");
    assert.equal(world.clock.standing, "right");
  });
});
