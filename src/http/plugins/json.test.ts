import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import fastify from "fastify";
import { ApiError } from "../../errors/catalogue.ts";
import { largeTurns } from "../large-turns.ts";
import { parseJsonOnly } from "./json.ts";

function echo() {
  const app = fastify();
  parseJsonOnly(app, largeTurns({ now: () => 0, monotonic: () => performance.now() }));
  app.setErrorHandler((error, _request, reply) =>
    reply.code(400).send(error instanceof ApiError ? error.details : error),
  );
  app.post("/", (request) => ({ body: request.body }));
  const send = async (payload: string | Buffer) => {
    const headers = { "content-type": "application/json" };
    return (await app.inject({ method: "POST", url: "/", headers, payload })).json();
  };
  return { app, send };
}

/** Makes any body a large one, and means nothing. */
const padding = " ".repeat(65_536);

test("a large body is read as a small one is, and refused for the same", async () => {
  const { app, send } = echo();
  const cases: [string | Buffer, unknown][] = [
    ['[1,{"a":"\\ud83d\\ude9a"}]', { body: [1, { a: "🚚" }] }],
    ["\ufeff{}", { body: {} }],
    ["[".repeat(101) + "]".repeat(101), ["body: is nested too deeply"]],
    ["[", ["body: must be well-formed JSON"]],
    [Buffer.from([0x22, 0xff, 0x22]), ["body: must be UTF-8"]],
    ['{"a":1,"\\u0061":2}', ["body: a field stands twice in the same object"]],
    ['{"a":"\\ud83d"}', ["body/a: must not hold half of a surrogate pair"]],
  ];
  for (const [text, expected] of cases)
    for (const after of ["", padding])
      assert.deepEqual(await send(Buffer.concat([Buffer.from(text), Buffer.from(after)])), expected, String(text));
  const part = fc.constantFrom('"', "\\", "[", "]", "{", "}", ":", ",", "1", '"a":', '{"a":1}', "\\ud800", "__proto__");
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.array(part).map((parts) => parts.join("")),
        fc.json(),
      ),
      async (text) => {
        if (text !== "") assert.deepEqual(await send(text + padding), await send(text), text);
      },
    ),
    { numRuns: 200 },
  );
  await app.close();
});

test("others are served while a large body is read", async () => {
  const { app, send } = echo();
  // Looked at for each reason to refuse it: it has many values, many fields, and an escape that may be half of a pair.
  const body = Array.from({ length: 30_000 }, () => ({ a: "\ud83d\ude9a" }));
  const text = JSON.stringify(body).replaceAll("\ud83d\ude9a", "\\ud83d\\ude9a");
  let turns = 0;
  let isRead = false;
  const answer = send(text).finally(() => {
    isRead = true;
  });
  for (; !isRead; turns++) await setImmediate();
  assert.ok(isDeepStrictEqual(await answer, { body }));
  assert.ok(turns > 12, `${turns} turns`);
  await app.close();
});

test("a body whose connection was closed meanwhile is not read on", async () => {
  const { app, send } = echo();
  let looks = 0;
  app.addHook("preParsing", async ({ raw }) => {
    Object.defineProperty(raw.socket, "destroyed", { get: () => ++looks > 2 });
  });
  assert.deepEqual(await send(`{}${padding}`), ["the connection was closed"]);
  assert.equal(looks, 3);
  await app.close();
});
