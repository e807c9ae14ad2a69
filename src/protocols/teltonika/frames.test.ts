import assert from "node:assert/strict";
import { test } from "node:test";
import { detect } from "./frames.ts";

const login = Uint8Array.from([0, 15, ...new TextEncoder().encode("100000000000001")]);

/** So many keep-alives, then these bytes. */
function behindPings(count: number, bytes: Uint8Array = new Uint8Array(0)): Uint8Array {
  return Uint8Array.from([...new Uint8Array(count).fill(0xff), ...bytes]);
}

test("a login is known behind the keep-alives of a minute, one a second", () => {
  assert.equal(detect(behindPings(1), "tcp"), "maybe");
  assert.equal(detect(behindPings(60), "tcp"), "maybe");
  assert.equal(detect(behindPings(60, login), "tcp"), "sure");
});

test("more keep-alives than that are nobody's", () => {
  assert.equal(detect(behindPings(61), "tcp"), "no");
  assert.equal(detect(behindPings(61, login), "tcp"), "no");
  assert.equal(detect(behindPings(5000), "tcp"), "no");
  assert.equal(detect(behindPings(1), "udp"), "no");
});
