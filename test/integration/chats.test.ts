import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { NoticeTarget } from "../../src/model/notice.ts";
import { createTelegramSender } from "../../src/notify/telegram.ts";
import { HttpPeer } from "../support/http-peer.ts";
import { OutboxBench } from "../support/outbox.ts";
import { silentLog } from "../support/silent-log.ts";

const token = `123456789:${"a".repeat(35)}`;
const reader = { language: "es", timeZone: null, units: "metric" } as const;
const chat = (id: string, secret = token): NoticeTarget => ({
  ...{ channel: "webhook", url: `telegram:${id}`, secret, format: "telegram", reader },
});

/** What the Bot API answers: https://core.telegram.org/bots/api#making-requests. */
const failed = (code: number, description: string, parameters = {}) =>
  JSON.stringify({ ok: false, error_code: code, description, parameters });

describe("chats", () => {
  let peer: HttpPeer;
  let bench: OutboxBench;
  beforeEach(async () => {
    peer = new HttpPeer();
    await peer.listen();
    bench = await OutboxBench.make({ telegramUrl: `http://127.0.0.1:${peer.port}` });
    bench.outbox.start();
  });
  afterEach(async () => {
    await bench.close();
    await peer.close();
  });
  const hook = (
    format: "slack" | "teams" | "template",
    template?: string,
    path = `/${format}?key=1`,
  ): NoticeTarget => ({
    ...{ channel: "webhook", url: `http://127.0.0.1:${peer.port}${path}`, secret: "", format },
    ...(template !== undefined && { template }),
  });

  it("of Telegram get a message of the rule's bot, in the reader's language", async () => {
    peer.answer = (response) => void response.end(JSON.stringify({ ok: true, result: { message_id: 42 } }));
    const [sent] = await bench.ended(await bench.commit([chat("-100123")], { critical: true, text: "x" }));
    assert.deepEqual([sent?.state, sent?.peerId], ["sent", "42"]);
    const [seen] = peer.seen;
    assert.deepEqual([seen?.method, seen?.url], ["POST", `/bot${token}/sendMessage`]);
    const { chat_id, text } = JSON.parse(seen?.body ?? "");
    assert.equal(chat_id, "-100123");
    assert.match(text, /Truck\n\n.*92 km\/h.*80/);
    assert.match(text, /https:\/\/map\.example\//);
    assert.match(text, /Crítica|Crítico|CRÍTICA/i);
  });

  it("of Telegram that refuse end with the reason, and a token that was revoked delays no other bot", async () => {
    peer.answer = (response, { url, body }) => {
      const to = JSON.parse(body).chat_id;
      const [code, said, more] = url.includes(token)
        ? to === "1"
          ? [403, "Forbidden: bot was blocked by the user", {}]
          : to === "2"
            ? [400, "Bad Request: chat not found", {}]
            : [429, "Too Many Requests: retry after 7", { retry_after: 7 }]
        : [401, "Unauthorized", {}];
      if (to === "9") return void response.end(JSON.stringify({ ok: true, result: { message_id: 1 } }));
      response.statusCode = Number(code);
      response.end(failed(Number(code), String(said), Object(more)));
    };
    const revoked = `1:${"b".repeat(35)}`;
    const targets = [...Array(30).keys()].map((index) => chat(String(100 + index), revoked));
    const begun = bench.clock.now();
    const ids = await bench.commit([...targets, chat("1"), chat("2"), chat("9"), chat("3")]);
    const ended = await bench.ended(ids.slice(0, -1));
    assert.deepEqual(
      [ended[0], ...ended.slice(-3)].map((notice) => [notice?.state, notice?.reason]),
      [
        ["failed", "Telegram does not know the bot's token (401: Unauthorized)"],
        ["failed", "Telegram refused it (403: Forbidden: bot was blocked by the user)"],
        ["failed", "Telegram refused it (400: Bad Request: chat not found)"],
        ["sent", null],
      ],
    );
    const later = await bench.until(ids.at(-1), ({ reason }) => reason !== null);
    assert.deepEqual(
      [later.state, later.reason],
      ["queued", "Telegram answered 429: Too Many Requests: retry after 7"],
    );
    assert.ok(later.dueAt >= begun + 7000);
    assert.equal(JSON.stringify(ended).includes("/bot"), false);
  });

  it("of Telegram got a message if the answer begins with ok, even if the rest comes too slowly", async () => {
    const url = `http://127.0.0.1:${peer.port}`;
    const sender = createTelegramSender({ url, timeoutMs: 500 }, { log: silentLog });
    const send = (answer: string) => {
      peer.answer = (response) => void response.write(answer);
      return sender.send({ token, chat: "1", text: "Speed" });
    };
    assert.deepEqual(await send('{"ok":true,"result":{"message_id"'), { outcome: "accepted", peerId: "" });
    for (const answer of ['{"ok"', '{"ok":false,"error_code":', "<html>"])
      assert.equal((await send(answer)).outcome, "unavailable", answer);
  });

  it("of Slack get no longer texts than Slack takes, even if every character is escaped", async () => {
    const marks = "&".repeat(200);
    const id = await bench.commit([hook("slack")], { name: marks, text: "<".repeat(3000) });
    await bench.ended(id);
    const { blocks } = JSON.parse(peer.seen[0]?.body ?? "");
    for (const { text, fields = [] } of blocks) {
      assert.ok((text?.text.length ?? 0) <= 3000);
      for (const field of fields) assert.ok(field.text.length <= 2000);
    }
  });

  it("of Slack and Teams get what these take", async () => {
    const ids = await bench.commit([hook("slack"), hook("teams")], { name: "Speed <b> & *all*", phase: "over" });
    for (const { state } of await bench.ended(ids)) assert.equal(state, "sent");
    const bodies = new Map(peer.seen.map(({ url, body }) => [url.split("?")[0], JSON.parse(body)]));
    const slack = bodies.get("/slack");
    assert.match(slack.text, /Truck: /);
    assert.deepEqual(
      slack.blocks.map(({ type }: { readonly type: string }) => type),
      ["section", "section", "section"],
    );
    assert.match(slack.blocks[1].fields[0].text, /Speed &lt;b&gt; &amp; \*all\*/);
    const [{ contentType, content }] = bodies.get("/teams").attachments;
    assert.equal(contentType, "application/vnd.microsoft.card.adaptive");
    assert.deepEqual(
      [content.type, content.body[2].type, content.actions[0].type],
      ["AdaptiveCard", "FactSet", "Action.OpenUrl"],
    );
    assert.match(content.body[2].facts[0].value, /Speed \\<b\\> & \\\*all\\\*/);
    for (const { headers } of peer.seen) {
      assert.equal(headers["webhook-signature"], undefined);
      assert.equal(headers["content-type"], "application/json");
    }
  });

  it("of others get what the rule's template makes, whatever stands in a name; one that grows too long is refused", async () => {
    const template =
      '{"content":"{{DeviceName}}: {{Text}} {{ AlertName }} {{MapLink}}","id":"{{AlertId}}","list":[{"{{Phase}}":"{{Critical}}"}]}';
    const long = `{"all":"${"{{AlertName}}".repeat(500)}"}`;
    const name = 'The "best" \\ rule\n{{AlertId}}';
    const ids = await bench.commit([hook("template", template), hook("template", long, "/long")], {
      name: name.padEnd(200, "x"),
    });
    const [sent, refused] = await bench.ended(ids);
    assert.equal(sent?.state, "sent");
    const body = JSON.parse(peer.seen[0]?.body ?? "");
    assert.ok(body.content.includes(name));
    assert.deepEqual(body.list, [{ raised: "false" }]);
    assert.deepEqual([refused?.state, refused?.reason], ["failed", "its template makes a body that is too long"]);
  });
});
