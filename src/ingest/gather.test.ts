import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Gather } from "./gather.ts";

const never = () => false;

/**
 * Whether a batch of `devices` devices goes at once. Timers stand still meanwhile, because on a slow machine they could
 * end before the test looks.
 */
async function goesAtOnce(gather: Gather, devices: number, hurries = never): Promise<boolean> {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    let gone = false;
    const waits = gather
      .wait(() => devices, hurries)
      .then(() => {
        gone = true;
      });
    // Longer than any chain of promises that waits for no timer.
    await new Promise((resolve) => setImmediate(resolve));
    const atOnce = gone;
    mock.timers.tick(2);
    await waits;
    return atOnce;
  } finally {
    mock.timers.reset();
  }
}

/** A `Gather` that saw `devices` devices report in the last second. */
async function afterSecondOf(devices: number) {
  const clock = { now: () => 0, monotonic: () => clock.time, time: 5000 };
  const gather = new Gather(clock);
  await gather.wait(() => 1, never);
  for (let device = 1; device <= devices; device++) gather.reports(device);
  clock.time += 1000;
  return { clock, gather };
}

test("a batch of few trackers goes at once: they wait for their acknowledgements before they report again", async () => {
  const { gather } = await afterSecondOf(63);
  assert.equal(await goesAtOnce(gather, 1), true);
});

test("a small batch of a fleet waits, unless somebody hurries; a large one goes at once", async () => {
  const { gather } = await afterSecondOf(64);
  assert.equal(await goesAtOnce(gather, 1), false);
  assert.equal(await goesAtOnce(gather, 32), true);
  assert.equal(await goesAtOnce(gather, 1, () => true), true);
});

test("a fleet that fell silent delays no single report", async () => {
  const { gather, clock } = await afterSecondOf(64);
  clock.time += 1000;
  assert.equal(await goesAtOnce(gather, 1), true);
});

test("a batch waits while others come, for 20 ms at most", async () => {
  const { gather, clock } = await afterSecondOf(64);
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    let devices = 1;
    let gone = false;
    void gather
      .wait(() => devices, never)
      .then(() => {
        gone = true;
      });
    const passed: number[] = [];
    for (let ms = 0; !gone; ms += 2) {
      passed.push(ms);
      devices++;
      clock.time += 2;
      mock.timers.tick(2);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(passed.at(-1), 18);
  } finally {
    mock.timers.reset();
  }
});
