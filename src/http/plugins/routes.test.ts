import assert from "node:assert/strict";
import { test } from "node:test";
import Fastify from "fastify";
import "../augment.ts";
import type { Gate } from "./gate.ts";
import { wrapRoutes } from "./routes.ts";

/** An app whose gate notes the permissions that it is asked with, and lets everybody in. */
function build() {
  const guarded: string[] = [];
  const gate: Gate = {
    guard: (permission) => {
      guarded.push(permission);
      return (_request, _reply, done) => done();
    },
    recognise: async () => {},
  };
  const app = Fastify({ exposeHeadRoutes: false });
  app.decorateRequest("startedAt", 0);
  wrapRoutes(app, gate, () => {}, 1000);
  return { app, guarded };
}

test("a route that declares no permission stops the start", () => {
  const { app } = build();
  assert.throws(() => app.get("/api/open", async () => "x"), /GET \/api\/open declares no permission/);
  assert.throws(() => app.get("/docsish", async () => "x"), /declares no permission/);
});

test("the gate is asked with what the route declares", async () => {
  const { app, guarded } = build();
  app.get("/api/a", { config: { permission: "admin" } }, async () => "x");
  app.get("/docs/x", { config: { permission: "public" } }, async () => "x");
  assert.deepEqual(guarded, ["admin", "public"]);
  assert.equal((await app.inject("/api/a")).body, "x");
  await app.close();
});
