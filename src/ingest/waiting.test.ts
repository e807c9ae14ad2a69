import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Waiting } from "./waiting.ts";

test("however greedy some accounts are, there is room for one that sends little", () => {
  const most = 32_000;
  fc.assert(
    fc.property(fc.array(fc.record({ account: fc.nat(20), device: fc.nat(5) }), { maxLength: 2000 }), (messages) => {
      const waiting = new Waiting(most);
      const devices = new Map<string, number>();
      for (const { account, device } of messages) {
        const key = `${account}/${device}`;
        const held = devices.get(key) ?? 0;
        if (!waiting.takes(account, held)) continue;
        waiting.add(account, 100, 1);
        devices.set(key, held + 100);
      }
      assert.ok(waiting.takes(99, 0), "another account is read");
      assert.ok(!waiting.over);
    }),
  );
});

test("one device alone takes an eighth, one account half of the room", () => {
  const waiting = new Waiting(32_000);
  let device = 0;
  while (waiting.takes(1, device)) {
    waiting.add(1, 100, 1);
    device += 100;
  }
  assert.ok(device < 4000);
  for (let other = 0; waiting.takes(1, 100); other++) waiting.add(1, 100, other);
  assert.ok(waiting.bytes >= 16_000 && waiting.bytes <= 16_100);
  waiting.add(1, -waiting.bytes, 0);
  assert.ok(waiting.takes(1, 0));
});

test("a device of which nothing waits gets in though its account's backlogs have taken their part; other accounts keep theirs", () => {
  const waiting = new Waiting(1000);
  while (waiting.takes(1, 10)) waiting.add(1, 10, 1);
  assert.ok(waiting.bytes >= 500 && waiting.bytes < 520);
  assert.ok(waiting.takes(1, 0));
  while (waiting.takes(1, 0)) waiting.add(1, 10, 1);
  assert.ok(waiting.bytes > 600 && waiting.bytes < 700);
  assert.ok(waiting.takes(2, 10));
});
