import assert from "node:assert/strict";
import { test } from "node:test";
import { requesterOf } from "./address.ts";

test("a connection that was reset before its request was read has no address any more, and is counted all the same", () => {
  const socket = { remoteAddress: undefined };
  assert.equal(requesterOf({ ip: undefined, socket }), requesterOf({ ip: "", socket }));
  assert.equal(requesterOf({ ip: "x".repeat(100), socket: { remoteAddress: "192.0.2.1" } }), "192.0.2.1");
});
