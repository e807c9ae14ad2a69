import assert from "node:assert/strict";
import { test } from "node:test";
import { createCache } from "./cache.ts";

function build(values: Map<string, number>, capacity = 100, mostBytes = 1000) {
  let time = 0;
  let loads = 0;
  let gate: Promise<void> = Promise.resolve();
  const cache = createCache<string, number>({
    clock: { now: () => time, monotonic: () => time },
    load: async (key) => {
      loads++;
      const value = values.get(key);
      await gate;
      return value;
    },
    maxAgeMs: 1000,
    capacity,
    mostBytes,
  });
  return {
    cache,
    loads: () => loads,
    pass: (ms: number) => {
      time += ms;
    },
    hold: (until: Promise<void>) => {
      gate = until;
    },
  };
}

test("a value is read once, then given at once until it is old", async () => {
  const { cache, loads, pass } = build(new Map([["a", 1]]));
  assert.deepEqual(await Promise.all([cache.get("a"), cache.get("a")]), [1, 1]);
  assert.equal(cache.get("a"), 1);
  assert.equal(loads(), 1);
  pass(1000);
  assert.equal(await cache.get("a"), 1);
  assert.equal(loads(), 2);
});

test("absence is asked again", async () => {
  const values = new Map<string, number>();
  const { cache } = build(values);
  assert.equal(await cache.get("a"), undefined);
  values.set("a", 5);
  assert.equal(await cache.get("a"), 5);
});

test("a read that began before a drop does not bring the old value back", async () => {
  const values = new Map([["a", 1]]);
  const { cache, hold } = build(values);
  const { promise, resolve } = Promise.withResolvers<void>();
  hold(promise);
  const before = cache.get("a");
  values.set("a", 2);
  cache.drop("a");
  const after = cache.get("a");
  resolve();
  assert.equal(await before, 1);
  assert.equal(await after, 2);
  assert.equal(cache.get("a"), 2);
});

test("the oldest makes room, and a failed read is tried again", async () => {
  const values = new Map([
    ["a", 1],
    ["b", 2],
  ]);
  const { cache, loads, hold } = build(values, 1);
  await cache.get("a");
  await cache.get("b");
  await cache.get("a");
  assert.equal(loads(), 3);
  hold(Promise.reject(new Error("store down")));
  await assert.rejects(async () => cache.get("b"));
  hold(Promise.resolve());
  assert.equal(await cache.get("b"), 2);
});

test("values take no more bytes than they may together; one that is larger by itself is not kept", async () => {
  const cache = createCache<number, string>({
    clock: { now: () => 0, monotonic: () => 0 },
    load: async (key) => "x".repeat(key),
    maxAgeMs: 1000,
    capacity: 100,
    mostBytes: 1950,
  });
  for (const key of [600, 601, 602, 603]) await cache.get(key);
  assert.deepEqual(
    [603, 602, 601].map((key) => typeof cache.get(key)),
    ["string", "string", "string"],
  );
  assert.ok(cache.get(600) instanceof Promise);
  await cache.get(600);
  await cache.get(5000);
  assert.ok(cache.get(5000) instanceof Promise);
  cache.dropAll((key) => key === 603);
  assert.ok(cache.get(603) instanceof Promise);
});
