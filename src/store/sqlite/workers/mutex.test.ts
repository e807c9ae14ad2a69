import assert from "node:assert/strict";
import { test } from "node:test";
import { Mutex } from "./mutex.ts";

test("one at a time, in the order of asking", async () => {
  const mutex = new Mutex();
  const done: number[] = [];
  let inside = 0;
  const end = await mutex.acquire();
  const places = Array.from({ length: 20 }, (_, index) => index);
  const all = places.map((place) =>
    mutex.run(async () => {
      inside++;
      await new Promise<void>((resolve) => setImmediate(resolve));
      assert.equal(inside, 1);
      inside--;
      done.push(place);
    }),
  );
  await new Promise<void>((resolve) => setImmediate(resolve));
  assert.deepEqual(done, []);
  end();
  end();
  await Promise.all(all);
  assert.deepEqual(done, places);
});

test("a turn that fails is over", async () => {
  const mutex = new Mutex();
  await assert.rejects(mutex.run(() => Promise.reject(new Error("no"))));
  assert.equal(await mutex.run(async () => "next"), "next");
});
