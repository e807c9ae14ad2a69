import assert from "node:assert/strict";
import { test } from "node:test";
import { HttpPeer } from "../support/http-peer.ts";
import { OutboxBench } from "../support/outbox.ts";
import { silentLog } from "../support/silent-log.ts";

test("a stop that a silent webhook outlasts is told in one line, and warns of nothing once the store is closed", async (context) => {
  const peer = new HttpPeer();
  await peer.listen();
  context.after(() => peer.close());
  peer.answer = () => {};
  const warned: string[] = [];
  const told: object[] = [];
  const warn = (_: object, message: string) => void warned.push(message);
  const info = (fields: object, message: string) => void told.push({ ...fields, message });
  const bench = await OutboxBench.make({ webhookMs: 60_000, log: { ...silentLog, info, warn, error: warn } });
  bench.outbox.start();
  const target = { channel: "webhook" as const, url: `http://127.0.0.1:${peer.port}/`, secret: "0123456789abcdef" };
  await bench.commit([target]);
  while (peer.seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await bench.close();
  assert.deepEqual(told, [{ notices: 1, message: "notices without an answer are sent again after the next start" }]);
  // Now the call ends, and what became of the notice can't be recorded any more.
  peer.drop();
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.deepEqual(warned, []);
});

test("a notice that was sent while the service stopped, and could not be recorded, is warned of: it is sent again", async (context) => {
  const peer = new HttpPeer();
  await peer.listen();
  context.after(() => peer.close());
  peer.answer = () => {};
  const warned: string[] = [];
  const warn = (_: object, message: string) => void warned.push(message);
  const bench = await OutboxBench.make({ webhookMs: 60_000, log: { ...silentLog, warn } });
  bench.store.notices.finish = () => Promise.reject(new Error("the disk is full"));
  bench.outbox.start();
  const target = { channel: "webhook" as const, url: `http://127.0.0.1:${peer.port}/`, secret: "0123456789abcdef" };
  await bench.commit([target]);
  while (peer.seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const closed = bench.close();
  peer.drop();
  await closed;
  assert.deepEqual(warned, ["what became of a notice can't be recorded"]);
});
