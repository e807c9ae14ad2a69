import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { createWebhookSender } from "../../src/notify/webhook.ts";
import { systemClock } from "../../src/observe/clock.ts";
import { HttpPeer } from "../support/http-peer.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";

test("the documented way to verify a webhook takes what is sent, and nothing else", async (context) => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/notices.md"), "utf8");
  const directory = dataFolder();
  const peer = new HttpPeer();
  await peer.listen();
  context.after(async () => {
    await peer.close();
    removeFolder(directory);
  });
  const file = join(directory, "verify.mjs");
  writeFileSync(file, /^```js\n(.*?)^```/ms.exec(page)?.[1] ?? "");
  const { isGenuine } = await import(pathToFileURL(file).href);
  const secret = "0123456789abcdef";
  const call = { url: `http://127.0.0.1:${peer.port}/`, secret, id: "n1", attempt: 1, type: "alert.raised" };
  await createWebhookSender({ allowPrivate: true }, { clock: systemClock, log: silentLog }).send({
    ...call,
    body: '{"text":"Camión"}',
  });
  const [seen] = peer.seen;
  assert.ok(seen);
  assert.equal(isGenuine(seen.headers, seen.body, secret), true);
  assert.equal(isGenuine(seen.headers, `${seen.body} `, secret), false);
  assert.equal(isGenuine(seen.headers, seen.body, "0123456789abcdeg"), false);
  assert.equal(isGenuine({ ...seen.headers, "webhook-id": "n2" }, seen.body, secret), false);
  assert.equal(isGenuine({ ...seen.headers, "webhook-timestamp": "1" }, seen.body, secret), false);
  assert.equal(isGenuine({}, seen.body, secret), false);
});
