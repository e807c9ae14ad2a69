import assert from "node:assert/strict";
import { test } from "node:test";
import { LateDevices } from "./late-devices.ts";

const device = { key: 1, accountKey: 1, id: "d", name: "d", expires: null, odometerStart: 0 };

/** The seconds in which the device is named, while it reports once a second. */
function told(late: LateDevices, from: number, seconds: number, mark: (second: number) => string): readonly number[] {
  const times: number[] = [];
  for (let second = from; second <= from + seconds; second++) {
    late.add(device, mark(second), second * 1000);
    if (late.take(second * 1000 + 400).length > 0) times.push(second);
  }
  return times;
}

test("a review waits until no more late records come, for half a minute at most; other reports do not delay it", () => {
  const late = new LateDevices();
  assert.deepEqual(
    told(late, 0, 40, (second) => `${Math.min(second, 35)}`),
    [30, 36],
  );
});

test("a device whose reviews lead to nothing is named ever more rarely, even if it reports", () => {
  const late = new LateDevices();
  assert.deepEqual(
    told(late, 0, 2500, () => "1"),
    [1, 31, 91, 211, 451, 931, 1531, 2131],
  );
});

test("a device without late records is not named", () => {
  const late = new LateDevices();
  late.add(device, "1", 0);
  late.delete(device.key);
  assert.deepEqual(late.take(100_000), []);
  assert.equal(late.size, 0);
});
