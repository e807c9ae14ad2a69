import assert from "node:assert/strict";
import { test } from "node:test";
import type { BusEvent } from "../ports/bus.ts";
import { createSharedBus } from "./shared.ts";

const changed: BusEvent = { type: "userChanged", accountKey: 1, key: 7 };

test("what is published is heard here and told to the others; what others told is heard here alone", () => {
  const told: BusEvent[] = [];
  let hears: (event: BusEvent, teller: string) => void = () => assert.fail("nobody listens");
  let sees: (others: readonly string[]) => void = () => assert.fail("nobody looks");
  const bus = createSharedBus(
    {
      others: ["one"],
      tell: (event) => void told.push(event),
      onTold(listener) {
        hears = listener;
      },
      onOthers(listener) {
        sees = listener;
      },
    },
    (error) => assert.fail(String(error)),
  );
  const heard: unknown[] = [];
  bus.subscribe((event, from) => heard.push([event, from]));
  bus.publish(changed);
  bus.publish({ type: "noticesQueued" }, "here");
  hears(changed, "one");
  sees(["two"]);
  assert.deepEqual(told, [changed]);
  assert.deepEqual(heard, [
    [changed, undefined],
    [{ type: "noticesQueued" }, undefined],
    [changed, "one"],
    [{ type: "processesChanged", came: ["two"], missed: ["one"] }, undefined],
  ]);
});
