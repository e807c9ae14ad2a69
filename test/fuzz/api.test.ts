import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { makeSessionToken } from "../../src/auth/session-token.ts";
import { firstTokenSetting } from "../../src/domain/first-password.ts";
import { defaultLimits } from "../../src/http/limits.ts";
import type { User } from "../../src/model/account.ts";
import { systemIds } from "../../src/observe/index.ts";
import type { RecipientAsking } from "../../src/ports/recipients.ts";
import { makeNotice } from "../contract/store/alert-values.ts";
import {
  type Call,
  type Caller,
  exampleOf,
  type Operation,
  type Request,
  requestsOf,
} from "../support/api-requests.ts";
import { type Behind, behindStore, onPostgres } from "../support/engine.ts";
import { inlined } from "../support/openapi.ts";
import { type Answer, endRest, operatorKey, type Rest, startRest } from "../support/rest.ts";
import { runs } from "../support/runs.ts";
import { passwordHash, signIn } from "../support/sessions.ts";

const sessions = { ...defaultLimits.sessions, triesPerMinute: 1e9, wrongPerHour: 1e9 };
const limits = {
  badTokensPerMinute: 1e9,
  requestsPerMinute: 1e9,
  tokenRequestsPerMinute: 1e9,
  dailyResults: 1e9,
  sessions,
};
const bodyLimit = 1_048_576;
/** For each call. What is refused for its form does not get as far as the engine, so PostgreSQL is tried less often. */
const requests = onPostgres ? 15 : 40;

/** The codes that recipients were sent last. */
const codes = new Map<string, string>();
const asking: RecipientAsking = {
  parts: () => 1,
  async send({ to, code }) {
    codes.set(to, code);
    return { outcome: "accepted", peerId: "" };
  },
};
let rest: Rest;
let behind: Behind;
let tokens: Readonly<Record<Exclude<Caller, "person" | "link">, string | undefined>>;
/** What the examples of the document have as passwords. */
const password = "<PASSWORD>";
/** What the browser sends in which the owner has signed in. */
let browser: Readonly<Record<string, string>>;
/** What the calls can name: values of the path's parameters. */
const known: Record<string, string> = {};
/** Of the link `known.shareId`. */
let linkToken = "";

before(async () => {
  rest = await startRest({ limits, asking });
  behind = await behindStore(rest.directory);
  const [owner, plain] = [await rest.ownerToken(), await rest.userToken({ privileges: ["read"] })];
  tokens = { owner, operator: operatorKey, plain, none: undefined };
  await renewPerson();
  // The key for passwords is made when it is first asked for.
  await rest.call("GET", "/.well-known/jwks.json");
  for (const name of Object.keys(makers)) await renew(name);
});
after(async () => {
  await behind.close();
  await endRest(rest);
});

/** What the follower and the processes of a service write by themselves. */
const writtenBehind = ["device_head", "device_day", "position_pending", "process", "process_bucket", "process_event"];

/** Everything that is stored, but for tables that count requests, and those that change by themselves. */
async function stored(): Promise<string> {
  // What belonged to a device that was removed goes bit by bit.
  while ((await behind.rows("select device from purge limit 1")).length > 0) await sleep(10);
  // A wrong code counts to its recipient.
  return behind.everything(["recipient", "user_usage", "device_results", "purge", ...writtenBehind]);
}

/** What was stored when the last request was judged; undefined once something may have changed it. */
let judged: string | undefined;

const person = { name: "Ana", country: "CO", timeZone: "America/Bogota" };
const makers: Readonly<Record<string, () => Promise<string>>> = {
  async deviceId() {
    await asOwner("DELETE", "/api/devices/fuzzed");
    return (await asOwner("POST", "/api/devices", { id: "fuzzed", min: "+573001234567" })).json.device.id;
  },
  async commandId() {
    await asOwner("POST", "/api/devices/fuzzed/sendCommand", { command: "x" });
    return (await asOwner("GET", "/api/devices/fuzzed/commands")).json.commands[0]?.id ?? "gone";
  },
  async notificationId() {
    const device = (await rest.store.devices.find("fuzzed"))?.key ?? 0;
    return (await makeNotice(rest.store, device, { state: "suppressed", reason: "fuzzed" })).id;
  },
  async geofenceId() {
    await asOwner("DELETE", `/api/geofences/${known.geofenceId ?? "none"}`);
    const geometry = { type: "Point", coordinates: [-74, 4.7], radius: 0.5 };
    return (await asOwner("POST", "/api/geofences", { name: "Fuzzed", geometry })).json.id;
  },
  async ruleId() {
    await asOwner("DELETE", `/api/alertRules/${known.ruleId ?? "none"}`);
    const rule = { name: "Fuzzed", type: "speedOver", parameters: { kmh: 80 }, devices: ["fuzzed"] };
    return (await asOwner("POST", "/api/alertRules", rule)).json.id;
  },
  async shareId() {
    const expires = new Date(rest.clock.now() + 3_600_000).toISOString();
    const made = (await asOwner("POST", "/api/shares", { deviceId: "fuzzed", expires })).json;
    linkToken = made.token;
    return made.share.id;
  },
  async groupId() {
    await asOwner("DELETE", `/api/groups/${known.groupId ?? "none"}`);
    return (await asOwner("POST", "/api/groups", { name: "Fuzzed", devices: ["fuzzed"] })).json.id;
  },
  async userId() {
    await asOwner("DELETE", `/api/users/${known.userId ?? "none"}`);
    const user = { ...person, email: `fuzzed.${++made}@example.com`, group: "Fuzzed" };
    return (await asOwner("POST", "/api/users", user)).json.id;
  },
  async recipientId() {
    const accountKey = (await rest.store.accounts.list())[0]?.key ?? 0;
    const name = { accountKey, channel: "email", address: `fuzzed.${++made}@example.net` } as const;
    // Asked long ago: who was asked today can't be deleted.
    const day = "2026-01-01";
    const code = {
      id: randomUUID(),
      hash: "none",
      expires: 0,
      day,
      accountDay: day,
      accountLimit: 1e9,
      parts: 1,
      again: false,
    };
    const asked = await rest.store.recipients.ask(
      name,
      code,
      { codesToAddress: 1e9, codesOfAccount: 1e9, perAccount: 1e9 },
      0,
    );
    assert.equal(asked.outcome, "asked");
    return code.id;
  },
  async accountId() {
    if (known.accountId !== undefined) return known.accountId;
    const owner = { ...person, email: "north@example.com" };
    const body = { name: "North", timeZone: "America/Bogota", licenses: 3, owner };
    return (await rest.call("POST", "/api/admin/accounts", { token: operatorKey, body })).json.account.id;
  },
};
let made = 0;

function asOwner(method: string, url: string, body?: object): Promise<Answer> {
  return rest.call(method, url, { token: tokens.owner ?? "", ...(body === undefined ? {} : { body }) });
}

/** Makes again what a call may have changed or removed. */
async function renew(name: string): Promise<void> {
  known[name] = (await makers[name]?.()) ?? "";
}

/** Gives the owner back the password that calls may have changed, and signs in again. */
async function renewPerson(): Promise<void> {
  const { key } = await owner();
  await rest.store.users.setPassword(key, await passwordHash(password), rest.clock.now());
  await rest.store.secondFactors.remove(key);
  // From another address each time: wrong passwords that the calls sent count to the one that they came from.
  browser = await signIn(rest, rest.owner?.userName ?? "", password, `192.0.2.${made++ % 250}`);
}

/** Undoes what a call did, so that the next one finds the same. */
async function undo(call: Call, { headers }: Answer): Promise<void> {
  if (call.method === "GET") return;
  if (call.path.startsWith("/api/session")) await renewPerson();
  const location = String(headers.location ?? "");
  if (/^\/api\/(devices|users|groups|geofences|alertRules)\/[^/]+$/.test(location)) await asOwner("DELETE", location);
  // A device takes its commands with it, and what names it comes after it.
  for (const name of Object.keys(makers))
    if (call.path.includes("{deviceId}") || call.path.includes(name)) await renew(name);
}

/**
 * Sends a request. Fails if the answer is not one that the document describes, or if a refused request changed
 * something.
 */
async function send(call: Call, { url, headers, caller, body }: Request): Promise<Answer> {
  const token = caller === "person" ? undefined : caller === "link" ? linkToken : tokens[caller];
  const filled = url.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(known[name] ?? "unknown"));
  const earlier = judged ?? (await stored());
  judged = undefined;
  const answer = await rest.call(call.method, filled, {
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(caller === "person" && browser),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  const told = `${call.operationId} ${filled.slice(0, 200)} ${answer.status} ${answer.body.slice(0, 300)}`;
  assert.ok(answer.status !== 500 && answer.status !== 408, told);
  if (answer.status === 503) assert.equal(answer.json.error, "SMS gateway not configured", told);
  if (answer.status >= 400 || call.method === "GET") {
    judged = await stored();
    assert.ok(judged === earlier, `${told} changed what is stored`);
  }
  return answer;
}

async function owner(): Promise<User> {
  const found = await rest.store.users.findByEmail(rest.owner?.userName ?? "");
  assert.ok(found);
  return found;
}

/** Takes the owner's password away, so that the link is good, and puts its token into the example. */
async function withToken(example: Request): Promise<Request> {
  const { key, ...fields } = await owner();
  await rest.store.users.replace(key, { ...fields, passwordHash: null, passwordSignsIn: false }, rest.clock.now());
  const { token, hash } = makeSessionToken(systemIds);
  await rest.store.accounts.setting(firstTokenSetting, () => hash);
  return { ...example, body: JSON.stringify({ ...JSON.parse(example.body ?? "{}"), token }) };
}

/**
 * Puts the code that was sent, and the account that asked, into the example of a recipient's answer, and an alert that
 * there is into those of acts. Other examples stay as they are.
 */
async function withCode({ operationId }: Call, example: Request): Promise<Request> {
  judged = undefined;
  if (operationId === "acknowledgeAlerts" || operationId === "closeAlerts") {
    const { alertId } = await makeNotice(rest.store, (await rest.store.devices.find("fuzzed"))?.key ?? 0);
    return { ...example, body: JSON.stringify({ ...JSON.parse(example.body ?? "{}"), ids: [alertId] }) };
  }
  if (operationId === "muteDevice" || operationId === "muteAlertRule") {
    const until = new Date(rest.clock.now() + 3_600_000).toISOString();
    return { ...example, body: JSON.stringify({ ...JSON.parse(example.body ?? "{}"), until }) };
  }
  if (operationId === "createShare") {
    const expires = new Date(rest.clock.now() + 3_600_000).toISOString();
    return { ...example, body: JSON.stringify({ ...JSON.parse(example.body ?? "{}"), expires }) };
  }
  if (operationId === "setFirstPassword") return withToken(example);
  if (operationId.startsWith("endSecondFactor")) {
    const user = operationId === "endSecondFactor" ? await owner() : await rest.store.users.find(known.userId ?? "");
    await rest.store.secondFactors.begin(user?.key ?? 0, "A");
  }
  if (operationId !== "answerAsRecipient") return example;
  const answer = JSON.parse(example.body ?? "{}");
  const account = (await rest.store.accounts.list())[0]?.id;
  return { ...example, body: JSON.stringify({ ...answer, account, code: codes.get(answer.to) }) };
}

/** The calls of the document. Examples that name a user, a key or a device become ones that are granted. */
function callsOf(document: object): readonly Call[] {
  const { userName = "", apiKey = "" } = rest.owner ?? {};
  const text = JSON.stringify(document)
    .replace("owner@example.com", userName)
    .replaceAll('"deviceId":"490154203237518"', '"deviceId":"fuzzed"')
    .replaceAll('"<API_KEY>"', JSON.stringify(apiKey));
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, Operation>> };
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
  );
}

test("whatever is sent to whatever call: no 500, no answer that the document lacks, nothing changed by what is refused", {
  timeout: 480_000,
}, async () => {
  for (const call of callsOf(inlined(rest.http.openApi()))) {
    const example = await withCode(call, exampleOf(call));
    const first = await send(call, example);
    assert.ok(
      first.status < 300,
      `${call.operationId}: its own example is answered with ${first.status} ${first.body}`,
    );
    await undo(call, first);
    await fc.assert(
      fc.asyncProperty(requestsOf(call), async (request) => {
        const answer = await send(call, request);
        if (answer.status < 300) await undo(call, answer);
      }),
      { numRuns: runs(requests), endOnFailure: true },
    );
  }
  assert.deepEqual(rest.logged, []);
});

test("a body of 1 MiB is read like a short one; one byte more is a bad request", async () => {
  for (const call of callsOf(inlined(rest.http.openApi()))) {
    const { body: text, ...request } = exampleOf(call);
    if (text === undefined) continue;
    // Twice, since an account can't be removed again: its second making is a conflict, however long its text.
    let plain = await send(call, { ...request, body: text });
    if (plain.status < 300) await undo(call, plain);
    plain = await send(call, { ...request, body: text });
    if (plain.status < 300) await undo(call, plain);
    const whole = await send(call, {
      ...request,
      body: text.padEnd(bodyLimit - Buffer.byteLength(text) + text.length),
    });
    if (whole.status < 300) await undo(call, whole);
    assert.deepEqual([whole.status, whole.json.error], [plain.status, plain.json.error], call.operationId);
    const over = await send(call, {
      ...request,
      body: text.padEnd(bodyLimit + 1 - Buffer.byteLength(text) + text.length),
    });
    const malformed = await send(call, { ...request, body: "{" });
    assert.deepEqual([over.status, over.json.error], [400, malformed.json.error], call.operationId);
    assert.match(over.json.details.join(), /larger/);
  }
});
