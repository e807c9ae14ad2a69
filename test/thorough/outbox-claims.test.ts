import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { HttpPeer } from "../support/http-peer.ts";
import { OutboxBench } from "../support/outbox.ts";
import { silentLog } from "../support/silent-log.ts";

const wait = () => new Promise((resolve) => setTimeout(resolve, 5));
let peer: HttpPeer;
beforeEach(async () => {
  peer = new HttpPeer();
  await peer.listen();
});

test("claims are renewed each minute for as long as their notices are under way", async (context) => {
  context.after(() => peer.close());
  peer.answer = () => {};
  const bench = await OutboxBench.make({ webhookMs: 60_000 });
  const { notices } = bench.store;
  const renew = context.mock.method(notices, "renew");
  context.mock.timers.enable({ apis: ["setInterval"] });
  const [id] = await bench.commit([webhook()]);
  bench.outbox.start();
  while (peer.seen.length === 0) await wait();
  const { key } = await bench.notice(id);
  context.mock.timers.tick(60_000);
  peer.drop();
  await bench.until(id, ({ state }) => state === "queued");
  // The try ends when the store has answered.
  for (let keys: readonly number[] = [key]; keys.length > 0; keys = renew.mock.calls.at(-1)?.arguments[1] ?? []) {
    await wait();
    context.mock.timers.tick(60_000);
  }
  assert.deepEqual(
    renew.mock.calls.slice(0, 2).map((call) => call.arguments[1]),
    [[], [key]],
  );
  context.mock.timers.reset();
  await bench.close();
});

test("a result that comes after another process has taken the notice over is told, and not counted", async (context) => {
  context.after(() => peer.close());
  const warned: string[] = [];
  const warn = (_: object, text: string) => void warned.push(text);
  const bench = await OutboxBench.make({ log: { ...silentLog, warn } });
  const { notices } = bench.store;
  context.mock.method(notices, "finish", async () => "lost" as const, { times: 1 });
  bench.outbox.start();
  const [id] = await bench.commit([webhook()]);
  while (warned.length === 0) await wait();
  assert.match(warned.join(), /^what became of a notice is not recorded: another process has taken it over/);
  assert.equal((await bench.notice(id)).state, "sending");
  assert.doesNotMatch(await bench.metrics.text(), /waybeam_notices_total\{[^}]*\} 1/);
  await bench.close();
});

function webhook() {
  return { channel: "webhook", url: `http://127.0.0.1:${peer.port}/`, secret: "0123456789abcdef" } as const;
}
