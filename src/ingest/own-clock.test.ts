import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { OwnClock, type Sight } from "./own-clock.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Our two clocks, and accounts with devices. */
class World {
  time = 1_000_000;
  wall = Date.UTC(2026, 5, 1);
  /** What each look at the clock takes, ms. */
  cost = 0;
  readonly clock = new OwnClock({
    now: () => this.wall,
    monotonic: () => {
      this.time += this.cost;
      return this.time;
    },
  });

  /** `age`: how long ago the service started, ms. */
  constructor(age = hour) {
    this.pass(age);
  }

  pass(ms: number): void {
    this.time += ms;
    this.wall += ms;
  }

  report(account: number, devices: number, sight: Sight, known = true, first = 0): void {
    this.clock.active(account);
    this.clock.look();
    for (let index = first; index < first + devices; index++)
      this.clock.saw(account * 10_000 + index, account, sight, known);
    this.clock.judge();
  }

  /** Devices that agree with our clock, where they are asked. */
  agree(account: number, devices: number): void {
    if (this.clock.hears) this.report(account, devices, "near");
    else this.clock.active(account);
  }

  get withholds() {
    return [this.clock.withholds(true), this.clock.withholds(false)];
  }
}

describe("our own clock", () => {
  it("is doubted where most devices of most accounts seem to be in the future, and believed when they do not", () => {
    const world = new World();
    for (const account of [1, 2, 3]) world.report(account, 2, "near");
    world.wall -= 400 * day;
    world.report(1, 1, "ahead");
    assert.deepEqual([world.clock.standing, ...world.withholds], ["right", true, false]);
    for (const account of [1, 2, 3]) world.report(account, 2, "ahead");
    assert.deepEqual([world.clock.standing, ...world.withholds], ["slow", true, true]);
    world.pass(hour);
    assert.equal(world.clock.standing, "slow");
    world.wall += 400 * day;
    world.report(1, 1, "near");
    assert.equal(world.clock.standing, "right");
    assert.deepEqual(world.withholds, [false, false]);
    world.pass(minute);
    assert.equal(world.clock.hears, false);
  });

  it("is doubted with one account alone", () => {
    const world = new World();
    world.report(1, 3, "ahead");
    assert.equal(world.clock.standing, "slow");
  });

  it("is not doubted for one account after a start, when the others are not known yet; nothing is acknowledged as refused meanwhile", () => {
    const world = new World(0);
    world.report(1, 10, "ahead");
    assert.deepEqual([world.clock.standing, ...world.withholds], ["right", true, true]);
    world.report(2, 1, "near");
    world.report(1, 10, "ahead");
    assert.deepEqual([world.clock.standing, ...world.withholds], ["right", false, false]);
    const slow = new World(0);
    for (const account of [1, 2]) slow.report(account, 2, "ahead");
    assert.equal(slow.clock.standing, "slow", "two accounts are enough");
    const alone = new World(0);
    alone.report(1, 3, "ahead");
    alone.pass(10 * minute);
    alone.report(1, 3, "ahead");
    assert.equal(alone.clock.standing, "slow", "nobody else came");
  });

  it("is not doubted for ten wrong trackers of one account, nor for thousands of invented reports", () => {
    const world = new World();
    for (const account of [1, 2]) world.report(account, 5, "near");
    world.report(3, 10, "ahead");
    world.report(3, 5000, "ahead", false);
    assert.deepEqual([world.clock.standing, ...world.withholds], ["right", false, false]);
    // The others sleep, but they were there today.
    world.pass(6 * hour);
    world.report(3, 10, "ahead");
    assert.equal(world.clock.standing, "right");
  });

  it("is not doubted for an account's new trackers while those that were fine before are", () => {
    const world = new World();
    world.report(1, 2, "near");
    world.report(1, 50, "ahead", false, 100);
    assert.equal(world.clock.standing, "right");
  });

  it("stays believed through a day in which three of an account's trackers are wrong all the time, and twenty are not", () => {
    const world = new World();
    world.report(1, 1, "near");
    for (let passed = 0; passed < day; passed += 5000) {
      world.pass(5000);
      world.report(1, 3, "ahead", true, 100);
      if (passed % 30_000 === 0) world.report(1, 3, "behind", true, 200);
      world.agree(1, 20);
      assert.equal(world.clock.standing, "right", `${passed} ms`);
    }
  });

  it("lets a lone device's reports wait for an hour, and then be refused; once another agreed with us, at once", () => {
    const world = new World();
    world.report(1, 1, "ahead");
    assert.deepEqual(world.withholds, [true, false]);
    world.pass(hour / 2);
    world.report(2, 1, "behind");
    world.pass(hour / 2);
    world.report(1, 1, "ahead");
    assert.deepEqual(world.withholds, [false, false]);
    const other = new World();
    other.report(2, 1, "near");
    for (let hours = 0; hours < 5; hours++) {
      other.pass(hour);
      other.report(1, 1, "ahead");
      assert.deepEqual(other.withholds, [false, false], `after ${hours} hours without a word of the other one`);
    }
  });

  it("is doubted, and nothing from the future acknowledged, for as long as most devices seem to be there", () => {
    const world = new World();
    for (let passed = 0; passed < 3 * day; passed += hour) {
      world.report(1, 5, "ahead");
      assert.deepEqual([world.clock.standing, ...world.withholds], ["slow", true, true]);
      world.pass(hour);
    }
  });

  it("takes a tenth of the time at most to be judged, however many devices there are", () => {
    const world = new World();
    world.cost = 1;
    world.report(1, 3, "ahead");
    world.report(2, 3, "ahead");
    world.cost = 1000;
    world.clock.judge();
    world.cost = 0;
    assert.equal(world.clock.standing, "slow");
    for (const account of [1, 2]) world.report(account, 3, "near");
    assert.equal(world.clock.standing, "slow", "not counted yet");
    world.pass(20_000);
    world.clock.judge();
    assert.equal(world.clock.standing, "right");
  });

  it("is said to be fast where most report long ago, and nothing is withheld for that", () => {
    const world = new World();
    for (const account of [1, 2]) world.report(account, 3, "behind");
    assert.deepEqual([world.clock.standing, ...world.withholds], ["fast", false, false]);
    world.pass(10 * minute);
    for (const account of [1, 2]) world.report(account, 3, "near");
    assert.equal(world.clock.standing, "right");
  });

  it("is said to be fast once, while old reports come among others; right again at once where it is set", () => {
    const world = new World();
    const said: string[] = [world.clock.standing];
    for (let second = 0; second < 1800; second++) {
      world.report(1, 3, "behind");
      if (world.clock.standing !== said.at(-1)) said.push(world.clock.standing);
      world.report(1, 3, "near");
      if (world.clock.standing !== said.at(-1)) said.push(world.clock.standing);
      world.pass(1000);
    }
    assert.deepEqual(said, ["right", "fast"]);
    world.wall -= 2 * day;
    world.report(1, 3, "near");
    assert.equal(world.clock.standing, "right");
  });
});

describe("what is old by our clock", () => {
  const trust = ({ clock }: World) => [clock.mayDelete(), clock.mayExpire()];

  it("is deleted once a device agreed with the clock, or nobody said a word for a week", () => {
    const world = new World(0);
    assert.deepEqual(trust(world), [false, true]);
    world.report(1, 1, "near");
    assert.deepEqual(trust(world), [true, true]);
    const silent = new World(0);
    silent.pass(7 * day);
    assert.deepEqual(trust(silent), [true, true]);
  });

  it("is not, nor ended, from the moment at which the clock is set ahead until a device agrees", () => {
    const world = new World();
    world.report(1, 1, "near");
    world.wall += 365 * day;
    assert.deepEqual(trust(world), [false, false]);
    world.report(1, 1, "behind");
    world.pass(6 * day);
    assert.deepEqual(trust(world), [false, false]);
    world.wall -= 365 * day;
    assert.deepEqual(trust(world), [false, false]);
    world.report(1, 1, "near");
    assert.deepEqual(trust(world), [true, true]);
  });

  it("is not, nor ended, while most devices report of long ago, also after a restart", () => {
    const world = new World(0);
    world.report(1, 1, "behind");
    assert.deepEqual(trust(world), [false, false]);
    for (let days = 0; days < 30; days++) {
      for (const account of [1, 2]) world.report(account, 3, "behind");
      world.pass(day);
    }
    assert.deepEqual([world.clock.standing, ...trust(world)], ["fast", false, false]);
  });
});
