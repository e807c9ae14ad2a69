import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createMailer } from "../../src/notify/mail.ts";
import { systemClock } from "../../src/observe/index.ts";
import { endRest, operatorKey, type Rest, startRest } from "../support/rest.ts";
import { silentLog } from "../support/silent-log.ts";
import { SmtpPeer } from "../support/smtp-peer.ts";

const limits = { requestsPerMinute: 100_000, tokenRequestsPerMinute: 10_000 };
const person = { name: "Ana Torres", country: "CO", timeZone: "America/Bogota" };
const denied = [403, "permission denied"];
const guarded = [409, "account owner is protected"];

let peer: SmtpPeer;
let rest: Rest;
let owner: { id: string; key: string; token: string };
let made = 0;

before(async () => {
  peer = new SmtpPeer();
  const mailer = createMailer(
    {
      ...{ host: "127.0.0.1", port: await peer.listen(), security: "opportunistic", user: "", password: "" },
      ...{ from: "waybeam@waybeam.example", connections: 2, timeoutSeconds: 30 },
    },
    { clock: systemClock, log: silentLog },
  );
  rest = await startRest({ limits, mailer });
  const token = await rest.ownerToken();
  const { users } = (await rest.call("GET", "/api/users", { token })).json;
  owner = { id: users[0].id, key: rest.owner?.apiKey ?? "", token };
});
after(async () => {
  await endRest(rest);
  await peer.close();
});

/** A user with a key, by the way that the API has. */
async function user(fields: object = {}) {
  const email = `person.${made++}@example.com`;
  const body = { ...person, email, ...fields };
  const { id } = (await rest.call("POST", "/api/users", { token: owner.token, body })).json;
  const { json } = await ask("POST", `/api/users/${id}/apiKey`, owner.token, { presentSecret: owner.key });
  const key: string = json.apiKey;
  return { id, email, key, body, path: `/api/users/${id}`, token: await tokenOf(email, key) };
}

async function tokenOf(userName: string, apiKey: string): Promise<string> {
  return (await rest.call("POST", "/api/Auth/Token", { body: { userName, apiKey } })).json.token;
}

const ask = (method: string, url: string, token: string, body?: unknown) => rest.call(method, url, { token, body });

async function codeOf(method: string, url: string, token: string, body?: unknown) {
  const { status, json } = await ask(method, url, token, body);
  return status < 300 ? status : [status, json.error];
}

/** The mails to an address, once there are so many. */
async function mailsTo(address: string, count: number) {
  const to = () => peer.taken.filter((mail) => mail.to.includes(address));
  await peer.until(() => to().length >= count);
  return to().map(({ raw }) => raw.replaceAll("=\r\n", ""));
}

describe("a token alone changes nobody's way in", () => {
  test("a new API key of one's own asks for the present key or password", async () => {
    const ana = await user();
    const url = `${ana.path}/apiKey`;
    assert.deepEqual(await codeOf("POST", url, ana.token), [400, "Bad Request"]);
    for (const presentSecret of ["", "wrong", owner.key, ana.token])
      assert.deepEqual(await codeOf("POST", url, ana.token, { presentSecret }), denied, presentSecret);
    const second = await ask("POST", url, ana.token, { presentSecret: ana.key });
    assert.equal(second.status, 201);
    assert.deepEqual(await codeOf("GET", ana.path, ana.token), [401, "authentication failed, invalid token"]);
    const steps = [{ op: "add", path: "/password", value: "a long password" }];
    assert.equal(await codeOf("PATCH", ana.path, owner.token, steps), 200);
    const token = await tokenOf(ana.email, second.json.apiKey);
    assert.equal(await codeOf("POST", url, token, { presentSecret: "a long password" }), 201);
  });

  test("an admin gives its own for another's key; the other's is no use to it", async () => {
    const ana = await user();
    const boss = await user({ privileges: ["admin"] });
    const url = `${ana.path}/apiKey`;
    for (const presentSecret of ["wrong", ana.key])
      assert.deepEqual(await codeOf("POST", url, boss.token, { presentSecret }), denied);
    assert.equal(await codeOf("POST", url, boss.token, { presentSecret: boss.key }), 201);
  });

  test("the own e-mail address and password ask for it, whatever form the change has; nothing else does", async () => {
    const boss = await user({ privileges: ["admin"] });
    const put = (fields: object) => codeOf("PUT", boss.path, boss.token, { ...boss.body, ...fields });
    const set = (path: string, value: unknown) => ({ op: "add", path, value });
    const patch = (...steps: object[]) => codeOf("PATCH", boss.path, boss.token, steps);
    const email = `new.${boss.email}`;
    for (const presentSecret of [undefined, null, "", "wrong"]) {
      assert.deepEqual(await put({ email, presentSecret }), denied);
      assert.deepEqual(await put({ password: "p", presentSecret }), denied);
    }
    for (const field of ["/email", "/password"]) assert.deepEqual(await patch(set(field, email)), denied);
    const kept = (await ask("GET", boss.path, boss.token)).json;
    assert.equal(kept.email, boss.email);
    assert.equal((await rest.store.users.find(boss.id))?.passwordHash, null);

    assert.equal(await put({ description: "the same address" }), 200);
    assert.equal(await put({ email: boss.email.toUpperCase(), password: null }), 200);
    assert.equal(await codeOf("PUT", boss.path, boss.token, kept), 200, "an answer can be sent back");
    assert.equal(await patch(set("/tags", { a: "b" })), 200);
    assert.equal(await patch(set("/email", email), set("/presentSecret", boss.key)), 200);
    assert.equal(await put({ email, password: "secret", presentSecret: boss.key }), 200);
    assert.equal(await put({ email, password: "other", presentSecret: "secret" }), 200);
    assert.equal((await ask("GET", boss.path, boss.token)).body.includes(boss.key), false);
    const other = await user();
    assert.equal(await codeOf("PATCH", other.path, boss.token, [set("/email", `other.${other.email}`)]), 200);
  });

  test("wrong ones are limited for the user; the right key never is", async () => {
    const ana = await user();
    const bo = await user();
    const tried = new Set<string>();
    for (let at = 0; at < 12; at++)
      tried.add(String(await codeOf("POST", `${ana.path}/apiKey`, ana.token, { presentSecret: `wrong ${at}` })));
    assert.deepEqual([...tried], ["403,permission denied", "429,Too Many Requests"]);
    const beyond = await ask("POST", `${ana.path}/apiKey`, ana.token, { presentSecret: "wrong" });
    assert.ok(Number(beyond.headers["retry-after"]) >= 1);
    assert.deepEqual(await codeOf("POST", `${bo.path}/apiKey`, bo.token, { presentSecret: "wrong" }), denied);
    assert.equal(await codeOf("POST", `${ana.path}/apiKey`, ana.token, { presentSecret: ana.key }), 201);
  });
});

describe("the account's owner", () => {
  test("nobody else touches its key, address, password, privileges, or lets it in no more", async () => {
    const boss = await user({ privileges: ["admin"] });
    const path = `/api/users/${owner.id}`;
    const before = await rest.store.users.find(owner.id);
    const set = (name: string, value: unknown) =>
      codeOf("PATCH", path, boss.token, [{ op: "add", path: `/${name}`, value }]);
    assert.deepEqual(await codeOf("POST", `${path}/apiKey`, boss.token, { presentSecret: boss.key }), guarded);
    assert.deepEqual(await codeOf("DELETE", `${path}/apiKey`, boss.token), guarded);
    assert.deepEqual(await codeOf("DELETE", path, boss.token), guarded);
    for (const [name, value] of [
      ["email", "mine@example.com"],
      ["password", "mine"],
      ["privileges", ["admin", "write"]],
      ["disabled", true],
      ["expires", "2020-01-01T00:00:00Z"],
      ["from", "2099-01-01T00:00:00Z"],
    ] as const)
      assert.deepEqual(await set(name, value), guarded, name);
    assert.deepEqual(await rest.store.users.find(owner.id), before);
    assert.equal(await set("description", "the boss's boss"), 200);
  });

  test("keeps a key: it replaces it, with the present one; the operator makes one where it is lost", async () => {
    const account = { name: "North", timeZone: "America/Bogota", licenses: 5, language: "es" };
    const body = { ...account, owner: { ...person, email: "eva@example.com" } };
    const north = (await ask("POST", "/api/admin/accounts", operatorKey, body)).json;
    const token = await tokenOf("eva@example.com", north.owner.apiKey);
    const url = `/api/users/${north.owner.id}/apiKey`;
    assert.deepEqual(await codeOf("DELETE", url, token), guarded);
    const ofOperator = `/api/admin/accounts/${north.account.id}/ownerApiKey`;
    const again = await ask("POST", ofOperator, operatorKey);
    assert.deepEqual([again.status, again.json.owner.email], [201, "eva@example.com"]);
    assert.equal(
      await codeOf("GET", `/api/users/${north.owner.id}`, token).then(String),
      "401,authentication failed, invalid token",
    );
    const renewed = await tokenOf("eva@example.com", again.json.owner.apiKey);
    assert.equal(await codeOf("POST", url, renewed, { presentSecret: again.json.owner.apiKey }), 201);
    const [mail = ""] = await mailsTo("eva@example.com", 2);
    assert.match(mail, /^Subject: Waybeam: Su clave de API fue reemplazada/m);
    assert.match(mail, /por el operador del servicio/);
  });
});

describe("the holder is told", () => {
  test("that its key was replaced or deleted, and by whom; the record shows when", async () => {
    const ana = await user();
    const path = `${ana.path}/apiKey`;
    const { modification } = (await ask("GET", ana.path, ana.token)).json;
    rest.clock.pass(1000);
    assert.equal(await codeOf("POST", path, owner.token, { presentSecret: owner.key }), 201);
    assert.equal(await codeOf("DELETE", path, owner.token), 200);
    const [replaced = "", ended = ""] = (await mailsTo(ana.email, 2)).toSorted(
      (a, b) => Number(a.includes("deleted")) - Number(b.includes("deleted")),
    );
    assert.match(replaced, /^Subject: Waybeam: Your API key was replaced/m);
    assert.match(replaced, /by Owner@Example\.com/);
    assert.match(ended, /^Subject: Waybeam: Your API key was deleted/m);
    assert.equal(ended.includes(ana.key), false);
    assert.ok((await ask("GET", ana.path, owner.token)).json.modification > modification);
  });

  test("of a new address at the old one", async () => {
    const ana = await user();
    const email = `moved.${ana.email}`;
    assert.equal(await codeOf("PUT", ana.path, owner.token, { ...ana.body, email }), 200);
    const [mail = ""] = await mailsTo(ana.email, 1);
    assert.match(mail, /^Subject: Waybeam: Your user name was changed/m);
    assert.ok(mail.includes(email));
  });

  test("and nobody can be flooded so", async () => {
    const ana = await user();
    for (let at = 0; at < 8; at++)
      assert.equal(await codeOf("POST", `${ana.path}/apiKey`, owner.token, { presentSecret: owner.key }), 201);
    const bo = await user();
    await codeOf("DELETE", `${bo.path}/apiKey`, owner.token);
    await mailsTo(bo.email, 1);
    assert.equal((await mailsTo(ana.email, 5)).length, 5);
  });
});
