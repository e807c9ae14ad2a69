import assert from "node:assert/strict";
import { test } from "node:test";
import { Turns } from "./turns.ts";

/** Works that end when the test says so; `order` tells in which order they began. */
function bench(turns: Turns) {
  const order: string[] = [];
  const ends: (() => void)[] = [];
  return {
    order,
    take: (owner: number, name: string) =>
      turns.take(owner, () => {
        order.push(name);
        return new Promise<string>((resolve) => ends.push(() => resolve(name)));
      }),
    async endAll() {
      for (let end = ends.shift(); end !== undefined; end = ends.shift()) {
        end();
        for (let turn = 0; turn < 5; turn++) await Promise.resolve();
      }
    },
  };
}

test("one at a time; owners take turns, so who brings many holds up the others by one", async () => {
  const { take, order, endAll } = bench(new Turns({ waiting: 10, each: 10 }));
  const taken = ["a1", "a2", "a3", "a4"].map((name) => take(1, name));
  taken.push(take(2, "b1"), take(3, "c1"), take(2, "b2"));
  assert.deepEqual(order, ["a1"]);
  await endAll();
  assert.deepEqual(order, ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
  assert.deepEqual(await Promise.all(taken), ["a1", "a2", "a3", "a4", "b1", "c1", "b2"]);
});

test("an owner has its share of the places, and all together have an end", async () => {
  const { take, endAll } = bench(new Turns({ waiting: 3, each: 2 }));
  take(1, "at work");
  assert.ok(take(1, "a1") instanceof Promise);
  assert.ok(take(1, "a2") instanceof Promise);
  assert.equal(take(1, "a3"), "ownFull");
  assert.ok(take(2, "b1") instanceof Promise);
  assert.equal(take(3, "c1"), "full");
  await endAll();
  assert.ok(take(3, "c1") instanceof Promise);
  await endAll();
});

test("work that fails, fails alone", async () => {
  const turns = new Turns({ waiting: 3, each: 3 });
  const failed = turns.take(1, () => Promise.reject(new Error("no")));
  const done = turns.take(1, async () => "done");
  await assert.rejects(async () => failed, /no/);
  assert.equal(await done, "done");
});

test("works of which something else bounds how many wait take their turns too", async () => {
  const turns = new Turns({ waiting: 1, each: 1 });
  const order: string[] = [];
  const work = (name: string) => async () => {
    order.push(name);
    await Promise.resolve();
    if (name === "a2") throw new Error("it failed");
    return name;
  };
  const taken = [...["a1", "a2", "a3"].map((name) => turns.always(1, work(name))), turns.always(2, work("b1"))];
  const ended = await Promise.allSettled(taken);
  assert.deepEqual(order, ["a1", "a2", "b1", "a3"]);
  assert.deepEqual(
    ended.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled", "fulfilled"],
  );
});
