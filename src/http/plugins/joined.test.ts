import assert from "node:assert/strict";
import { test } from "node:test";
import Fastify from "fastify";
import "../augment.ts";
import { sendJoinedPieces } from "./joined.ts";

/** An app that answers `/` with these pieces; `measured`: what it was told of answers. */
function build(head: string, text: string, end: string) {
  const measured: string[] = [];
  const app = Fastify();
  app.decorateRequest("startedAt", 0);
  sendJoinedPieces(app, (method, route, code) => measured.push(`${method} ${route} ${code}`));
  const bytes = Buffer.from(text);
  app.get("/", (_request, reply) => {
    reply.header("content-type", "application/json").header("x-request-id", "1");
    reply.sendJoined(head, bytes, end);
  });
  app.get("/late", async (_request, reply) => {
    await reply.code(408).send("late");
    reply.sendJoined(head, bytes, end);
  });
  return { app, measured };
}

test("the pieces are one text, with the reply's headers and the length of their bytes, and are measured once", async () => {
  const { app, measured } = build('{"é":[', '"ñ",'.repeat(100_000), '"€"]}');
  for (const _ of [1, 2]) {
    const answer = await app.inject("/");
    assert.equal(answer.statusCode, 200);
    assert.equal(answer.body, `{"é":[${'"ñ",'.repeat(100_000)}"€"]}`);
    assert.equal(answer.headers["content-length"], String(answer.rawPayload.length));
    assert.equal(answer.headers["content-type"], "application/json");
    assert.equal(answer.headers["x-request-id"], "1");
  }
  assert.deepEqual(measured, ["GET / 200", "GET / 200"]);
  await app.close();
});

test("over a socket they are answers that follow each other on one connection", async () => {
  const { app } = build("[", "", "]");
  const address = await app.listen({ host: "127.0.0.1", port: 0 });
  for (const _ of [1, 2, 3]) assert.deepEqual(await (await fetch(address)).json(), []);
  await app.close();
});

test("a request that was answered meanwhile is not answered again", async () => {
  const { app, measured } = build("[", "1", "]");
  const answer = await app.inject("/late");
  assert.equal(answer.statusCode, 408);
  assert.equal(answer.body, "late");
  assert.deepEqual(measured, []);
  await app.close();
});
