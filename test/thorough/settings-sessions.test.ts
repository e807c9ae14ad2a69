import assert from "node:assert/strict";
import { mock } from "node:test";
import { readStored } from "../../src/credentials-file.ts";
import { type Answer, type Running, seeThemAct } from "../support/settings.ts";

const [email, password] = ["ana@example.org", "correct horse battery"];
const wrong = { email: "nobody@example.org", password: "wrong" };

/** Signs in; gives the session's cookie, and none where it is refused. */
async function signIn(service: Running, body: object): Promise<Answer & { readonly cookie: string }> {
  const answer = await service.request("POST", "/api/session", {
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const cookies = answer.headers.getSetCookie().map((each) => each.split(";")[0] ?? "");
  return { ...answer, cookie: cookies.find((each) => each.startsWith("waybeam=")) ?? "" };
}

/** The session of a person, newly made. */
async function session(service: Running): Promise<string> {
  const presentSecret = (await readStored(service.directory))?.apiKey;
  const ana = { name: "Ana", email, country: "CO", timeZone: "America/Bogota", password, presentSecret };
  await service.call("POST", "/api/users", ana);
  return (await signIn(service, { email, password })).cookie;
}

async function read(service: Running, cookie: string): Promise<number> {
  return (await service.request("GET", "/api/session/sign-ins", { headers: { cookie } })).status;
}

/** The same, as if so much time had passed. */
async function readAfter(ms: number, service: Running, cookie: string): Promise<number> {
  const { now } = Date;
  const later = mock.method(Date, "now", () => now.call(Date) + ms);
  try {
    return await read(service, cookie);
  } finally {
    later.mock.restore();
  }
}

seeThemAct("sessions", [
  {
    sets: { "sessions.idleSeconds": 60 },
    async acts(service) {
      const cookie = await session(service);
      assert.deepEqual(
        [await readAfter(50_000, service, cookie), await readAfter(111_000, service, cookie)],
        [200, 401],
      );
    },
  },
  {
    sets: { "sessions.longestSeconds": 60 },
    async acts(service) {
      const cookie = await session(service);
      assert.deepEqual(
        [await readAfter(50_000, service, cookie), await readAfter(61_000, service, cookie)],
        [200, 401],
      );
    },
  },
  {
    sets: { "sessions.perUser": 1 },
    async acts(service) {
      const [first, second] = [await session(service), await session(service)];
      assert.deepEqual([await read(service, first), await read(service, second)], [401, 200]);
    },
  },
  {
    sets: { "sessions.triesPerMinute": 1 },
    async acts(service) {
      assert.deepEqual([(await signIn(service, wrong)).status, (await signIn(service, wrong)).status], [401, 429]);
    },
  },
  {
    sets: { "sessions.wrongPerHour": 1 },
    async acts(service) {
      assert.deepEqual([(await signIn(service, wrong)).status, (await signIn(service, wrong)).status], [401, 429]);
    },
  },
]);
