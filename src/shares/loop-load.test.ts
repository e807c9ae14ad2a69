import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { BusyLoop } from "./loop-load.ts";

/** An event loop whose load the test sets, ms by ms. */
function loopOf(context: TestContext) {
  context.mock.timers.enable({ apis: ["setInterval"] });
  let [busyMs, ms] = [0, 0];
  const loop = new BusyLoop(() => {
    const load = ms === 0 ? 0 : busyMs / ms;
    [busyMs, ms] = [0, 0];
    return load;
  });
  context.after(() => loop.stop());
  const pass = (time: number, load: number) => {
    for (let passed = 0; passed < time; passed++) {
      ms++;
      busyMs += load;
      context.mock.timers.tick(1);
    }
    return loop.busyLoad > 0;
  };
  return { loop, pass };
}

test("what was hours ago says nothing of the last quarter of a second", (context) => {
  const { loop, pass } = loopOf(context);
  pass(1000, 1);
  loop.start();
  assert.equal(pass(600_000, 0.1), false);
  assert.equal(pass(250, 0.9), true);
  assert.equal(pass(600_000, 0.9), true);
  assert.equal(pass(250, 0.1), false);
});

test("it is busy until the load is well below what made it busy: what gives way is a part of it", (context) => {
  const { loop, pass } = loopOf(context);
  loop.start();
  assert.equal(pass(250, 0.29), false);
  assert.equal(pass(250, 0.31), true);
  assert.equal(pass(1000, 0.2), true);
  assert.equal(pass(250, 0.14), false);
  assert.equal(pass(1000, 0.2), false);
});

test("it measures no more once it is stopped", (context) => {
  const { loop, pass } = loopOf(context);
  loop.start();
  loop.stop();
  assert.equal(pass(1000, 1), false);
  loop.start();
  assert.equal(pass(250, 1), true);
});
