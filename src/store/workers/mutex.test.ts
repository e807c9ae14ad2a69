import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Mutex } from "./mutex.ts";

test("one at a time, in the order of asking, the urgent ones before the others", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 20 }), async (urgent) => {
      const mutex = new Mutex();
      const done: number[] = [];
      let inside = 0;
      const end = await mutex.acquire();
      const all = urgent.map((one, index) =>
        mutex.run(async () => {
          inside++;
          await new Promise<void>((resolve) => setImmediate(resolve));
          assert.equal(inside, 1);
          inside--;
          done.push(index);
        }, one),
      );
      end();
      end();
      await Promise.all(all);
      const places = urgent.map((_, index) => index);
      assert.deepEqual(done, [...places.filter((at) => urgent[at]), ...places.filter((at) => !urgent[at])]);
    }),
  );
});

test("a turn that fails is over", async () => {
  const mutex = new Mutex();
  await assert.rejects(mutex.run(() => Promise.reject(new Error("no"))));
  assert.equal(await mutex.run(async () => "next"), "next");
});
