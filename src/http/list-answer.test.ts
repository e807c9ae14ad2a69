import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import Fastify from "fastify";
import { ListCursors } from "../domain/list-cursors.ts";
import { ApiError } from "../errors/catalogue.ts";
import { createLog } from "../observe/index.ts";
import { Answers } from "./answers.ts";
import { defaultLimits } from "./limits.ts";
import { wholeAnswer } from "./list-answer.ts";
import { listTurns } from "./list-turns.ts";
import { countUnread } from "./plugins/unread.ts";

const megabyte = 1_048_576;
const entry = JSON.stringify("x".repeat(8 * megabyte));

function servicesOf(answers: Answers) {
  const clock = { now: () => 0, monotonic: () => performance.now() };
  return { answers, cursors: new ListCursors("a secret"), log: createLog("error"), listTurns: listTurns(clock) };
}

test("a whole list that nobody reads counts all that it holds, large entries too", async () => {
  const answers = new Answers({ ...defaultLimits.answers, unreadMegabytes: 64 });
  const services = servicesOf(answers);
  const app = Fastify();
  after(() => app.close());
  app.decorateRequest("caller", null);
  app.get<{ Querystring: { limit?: string } }>("/list", async (request, reply) => {
    answers.enter({ key: 1, accountKey: 1 }, request, reply);
    return wholeAnswer(request, reply, services, {
      name: "entries",
      scope: ["entries"],
      read: async ({ after: last = 0 }) => ({ items: [entry], ...(last < 3 && { next: last + 1 }) }),
      text: (item: string) => item,
      place: Number,
    });
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const address = app.server.address();
  assert.ok(typeof address === "object" && address !== null);
  const socket = connect(address.port, "127.0.0.1", () => socket.write("GET /list HTTP/1.1\r\nHost: x\r\n\r\n"));
  after(() => socket.destroy());
  socket.pause();
  // The first entry and the second one; it asks for no third.
  while (answers.bytes < 16 * megabyte) await wait(10);
  socket.resume();
  while (answers.bytes > 0) await wait(10);
});

test("lists of an account are read one at a time; where its unread answers are too many they are refused unread", async () => {
  const answers = new Answers({ ...defaultLimits.answers, unreadMegabytes: 20 });
  const services = servicesOf(answers);
  const app = Fastify();
  after(() => app.close());
  app.decorateRequest("caller", null);
  countUnread(app, answers);
  let reading = 0;
  let most = 0;
  let read = 0;
  app.get<{ Querystring: { limit?: string } }>("/list", async (request, reply) => {
    answers.enter({ key: 1, accountKey: 1 }, request, reply);
    return wholeAnswer(request, reply, services, {
      name: "entries",
      scope: ["entries"],
      read: async () => {
        most = Math.max(most, ++reading);
        read++;
        await wait(1);
        reading--;
        return { items: [entry] };
      },
      text: (item: string) => item,
      place: Number,
    });
  });
  app.setErrorHandler((error: Error, _, reply) =>
    reply.code(error instanceof ApiError ? error.kind.status : 500).send(),
  );
  await app.listen({ host: "127.0.0.1", port: 0 });
  const address = app.server.address();
  assert.ok(typeof address === "object" && address !== null);
  const sockets = ["/list", "/list?limit=5"].flatMap((path) =>
    Array.from({ length: 10 }, () => {
      const socket = connect(address.port, "127.0.0.1", () => socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`));
      after(() => socket.destroy());
      socket.pause();
      return socket;
    }),
  );
  while (answers.bytes < 16 * megabyte) await wait(10);
  await wait(100);
  assert.equal(most, 1);
  // Two are held; of a third one is known how large it is only once it was read.
  assert.ok(read <= 3, `${read} were read`);
  for (const socket of sockets) socket.destroy();
  while (answers.bytes > 0) await wait(10);
});
