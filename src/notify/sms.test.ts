import assert from "node:assert/strict";
import { test } from "node:test";
import { HttpPeer } from "../../test/support/http-peer.ts";
import { silentLog } from "../../test/support/silent-log.ts";
import { SmppPeer } from "../../test/support/smpp-peer.ts";
import { loadConfig } from "../config/index.ts";
import { createMetrics, systemClock } from "../observe/index.ts";
import type { SmsSender } from "../ports/sms.ts";
import { createSmsSender } from "./index.ts";

function fromEnvironment(env: Readonly<Record<string, string>>): {
  sender: SmsSender | undefined;
  metrics: () => Promise<string>;
} {
  const loaded = loadConfig({ env });
  assert.ok("config" in loaded);
  const metrics = createMetrics({ processMetrics: false });
  const sender = createSmsSender(loaded.config.sms, { clock: systemClock, log: silentLog, metrics });
  return { sender, metrics: () => metrics.text() };
}

test("without a gateway there is no sender", () => {
  assert.equal(fromEnvironment({}).sender, undefined);
});

test("an SMPP gateway from the configuration, counted", async () => {
  const peer = new SmppPeer();
  const port = await peer.listen();
  const { sender, metrics } = fromEnvironment({
    WAYBEAM_SMS_KIND: "smpp",
    WAYBEAM_SMS_SMPP_HOST: "127.0.0.1",
    WAYBEAM_SMS_SMPP_PORT: String(port),
    WAYBEAM_SMS_SMPP_SYSTEM_ID: "waybeam",
    WAYBEAM_SMS_SMPP_SOURCE: "+12345",
  });
  assert.ok(sender?.binary);
  assert.equal((await sender.send("+1234567", { text: "x" })).outcome, "accepted");
  const [submit] = peer.submits;
  assert.deepEqual([submit?.source_addr, submit?.source_addr_ton], ["12345", 1]);
  peer.tell("deliver_sm", { esm_class: 4, receipted_message_id: "m1", message_state: 2 });
  await peer.until(() => peer.receiptAnswers.length === 1);
  const text = await metrics();
  assert.match(text, /waybeam_sms_total\{outcome="accepted"\} 1/);
  assert.match(text, /waybeam_sms_receipts_total\{state="delivered"\} 1/);
  assert.match(text, /waybeam_sms_connected 1/);
  await sender.close();
  await peer.close();
});

test("an HTTP gateway from the configuration; private only where it is turned on", async () => {
  const peer = new HttpPeer();
  await peer.listen();
  const env = {
    WAYBEAM_SMS_KIND: "http",
    WAYBEAM_SMS_HTTP_URL: `http://127.0.0.1:${peer.port}/`,
    WAYBEAM_SMS_HTTP_BODY: '["{text}"]',
  };
  const guarded = fromEnvironment(env);
  assert.equal((await guarded.sender?.send("+1234567", { text: "x" }))?.outcome, "refused");
  const free = fromEnvironment({ ...env, WAYBEAM_SMS_HTTP_ALLOW_PRIVATE: "on" });
  assert.equal((await free.sender?.send("+1234567", { text: "x" }))?.outcome, "accepted");
  assert.match(await free.metrics(), /waybeam_sms_total\{outcome="accepted"\} 1/);
  await peer.close();
});
