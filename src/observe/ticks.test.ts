import assert from "node:assert/strict";
import { test } from "node:test";
import { keepTicksFast } from "./ticks.ts";

test("what is kept is an object of process.nextTick, so that its shape stays known", async () => {
  const kept = await keepTicksFast();
  assert.ok("callback" in kept && typeof kept.callback === "function", "Node hands out something else here");
});
