import assert from "node:assert/strict";
import { test } from "node:test";
import type { BusEvent } from "../ports/bus.ts";
import { createMemoryBus } from "./memory.ts";

const changed: BusEvent = { type: "userChanged", accountKey: 1, key: 7 };

test("every listener hears an event before publish returns, and none after it left", async () => {
  const bus = createMemoryBus((error) => assert.fail(String(error)));
  const heard: BusEvent[] = [];
  const leave = bus.subscribe((event) => heard.push(event));
  bus.subscribe((event) => heard.push(event));
  bus.publish(changed);
  assert.deepEqual(heard, [changed, changed]);
  leave();
  bus.publish(changed);
  assert.equal(heard.length, 3);
  await bus.close();
  bus.publish(changed);
  assert.equal(heard.length, 3);
});

test("a listener that throws stops nobody else", () => {
  const errors: unknown[] = [];
  const bus = createMemoryBus((error) => errors.push(error));
  let heard = 0;
  bus.subscribe(() => {
    throw new Error("broken listener");
  });
  bus.subscribe(() => heard++);
  bus.publish(changed);
  assert.equal(heard, 1);
  assert.equal(errors.length, 1);
});
