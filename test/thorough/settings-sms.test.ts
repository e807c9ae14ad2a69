import assert from "node:assert/strict";
import { HttpPeer } from "../support/http-peer.ts";
import { type Answer, type Beside, happensFirst, type Running, seeThemAct, type Values } from "../support/settings.ts";
import { SmppPeer } from "../support/smpp-peer.ts";

let http: HttpPeer;
let smpp: SmppPeer;

/** An SMS gateway by HTTP, and what the service has to know of it. */
async function byHttp({ closing }: Beside): Promise<Values> {
  http = closing(new HttpPeer());
  await http.listen();
  return {
    "sms.kind": "http",
    "sms.http.url": `http://127.0.0.1:${http.port}/send`,
    "sms.http.body": '{"to":"{to}","text":"{text}"}',
    "sms.http.allowPrivate": "on",
  };
}

/** An SMS gateway by SMPP. */
async function bySmpp({ closing }: Beside): Promise<Values> {
  smpp = closing(new SmppPeer());
  // Not the address that an empty host means.
  const port = await smpp.listen(0, "127.0.0.2");
  return {
    "sms.kind": "smpp",
    "sms.smpp.host": "127.0.0.2",
    "sms.smpp.port": port,
    "sms.smpp.systemId": "waybeam",
  };
}

const without = (values: Values, ...keys: readonly string[]): Values =>
  Object.fromEntries(Object.entries(values).filter(([key]) => !keys.includes(key)));

/** Settings of a gateway of which some are the case's own. */
const but =
  (peer: (beside: Beside) => Promise<Values>, ...keys: readonly string[]) =>
  async (beside: Beside) =>
    without(await peer(beside), ...keys);

/** Sends a command by SMS. */
async function sms(service: Running, fields: object = {}, id = "d"): Promise<Answer> {
  await service.call("POST", "/api/devices", { id, min: "+573001112233" });
  return service.call("POST", `/api/devices/${id}/sendCommand`, { command: "begin", sms: true, ...fields });
}

/** Sends one that the gateway takes. */
async function taken(service: Running, fields: object = {}): Promise<void> {
  assert.equal((await sms(service, fields)).json.result, "sent: the SMS gateway took it");
}

/** Sends one that the gateway does not take. */
async function notTaken(service: Running, fields: object = {}): Promise<void> {
  const { json } = await sms(service, fields);
  assert.ok(json.result !== "sent: the SMS gateway took it", JSON.stringify(json));
}

const binary = { command: "0AFF", format: "Hex" };

seeThemAct("sms", [
  {
    keys: ["sms.kind", "sms.http.url", "sms.http.body", "sms.http.allowPrivate"],
    sets: byHttp,
    async acts(service) {
      await taken(service);
      assert.equal(http.seen[0]?.method, "POST");
      assert.equal(http.seen[0]?.url, "/send");
      assert.deepEqual(JSON.parse(http.seen[0]?.body ?? ""), { to: "+573001112233", text: "begin" });
    },
  },
  {
    sets: { "sms.http.method": "PUT", "sms.http.headers": '{"x-key":"{secret}"}', "sms.http.secret": "open sesame" },
    beside: byHttp,
    async acts(service) {
      await taken(service);
      assert.deepEqual([http.seen[0]?.method, http.seen[0]?.headers["x-key"]], ["PUT", "open sesame"]);
    },
  },
  {
    sets: { "sms.http.format": "form", "sms.http.body": "to={digits}&text={text}" },
    beside: but(byHttp, "sms.http.body"),
    async acts(service) {
      await taken(service, { command: "a b" });
      assert.equal(http.seen[0]?.headers["content-type"], "application/x-www-form-urlencoded");
      assert.match(http.seen[0]?.body ?? "", /^to=573001112233&text=a(%20|\+)b$/);
    },
  },
  {
    keys: ["sms.http.binaryUrl", "sms.http.binaryBody"],
    sets: async () => ({
      "sms.http.binaryUrl": `http://127.0.0.1:${http.port}/binary`,
      "sms.http.binaryBody": '{"hex":"{hex}"}',
    }),
    beside: byHttp,
    async acts(service) {
      await taken(service, binary);
      assert.deepEqual([http.seen[0]?.url, http.seen[0]?.body], ["/binary", '{"hex":"0AFF"}']);
    },
  },
  {
    sets: { "sms.http.success": "202" },
    beside: byHttp,
    async acts(service) {
      await notTaken(service);
      http.answer = (response) => void response.writeHead(202).end();
      await taken(service);
    },
  },
  {
    sets: { "sms.http.idPath": "message.id" },
    beside: byHttp,
    async acts(service) {
      await notTaken(service);
      http.answer = (response) => void response.end('{"message":{"id":"7"}}');
      await taken(service);
    },
  },
  {
    sets: { "sms.http.idPattern": "^OK (\\S+)" },
    beside: byHttp,
    async acts(service) {
      await notTaken(service);
      http.answer = (response) => void response.end("OK 7");
      await taken(service);
    },
  },
  {
    sets: { "sms.timeoutSeconds": 1 },
    beside: byHttp,
    async acts(service) {
      http.answer = () => {};
      assert.ok(await happensFirst(sms(service), 6000));
    },
  },
  {
    keys: ["sms.kind", "sms.smpp.host", "sms.smpp.port", "sms.smpp.systemId"],
    sets: bySmpp,
    async acts(service) {
      await smpp.until(() => smpp.binds.length > 0);
      assert.equal(smpp.binds[0]?.system_id, "waybeam");
      await taken(service);
      assert.equal(smpp.submits.length, 1);
    },
  },
  {
    sets: {
      "sms.smpp.password": "sesame",
      "sms.smpp.systemType": "VMA",
      "sms.smpp.source": "Waybeam",
      "sms.smpp.enquireSeconds": 1,
      "sms.maxParts": 1,
    },
    beside: bySmpp,
    async acts(service) {
      await smpp.until(() => smpp.binds.length > 0);
      assert.deepEqual([smpp.binds[0]?.password, smpp.binds[0]?.system_type], ["sesame", "VMA"]);
      await taken(service);
      assert.equal(smpp.submits[0]?.source_addr, "Waybeam");
      await notTaken(service, { command: "x".repeat(161) });
      assert.ok(
        await happensFirst(
          smpp.until(() => smpp.enquiries > 0),
          12_000,
        ),
      );
    },
  },
  {
    sets: { "sms.smpp.window": 2 },
    beside: bySmpp,
    async acts(service) {
      await smpp.until(() => smpp.binds.length > 0);
      smpp.held = [];
      const all = Array.from({ length: 4 }, (_, index) => sms(service, {}, `d${index}`));
      await smpp.until(() => smpp.submits.length === 2);
      assert.ok(
        !(await happensFirst(
          smpp.until(() => smpp.submits.length > 2),
          2000,
        )),
      );
      smpp.release();
      await Promise.all(all);
      assert.equal(smpp.mostOpen, 2);
    },
  },
  {
    sets: { "sms.smpp.tls": "on" },
    beside: bySmpp,
    async acts(service) {
      // A plain gateway is no peer of ours then.
      await notTaken(service);
      assert.equal(smpp.binds.length, 0);
    },
  },
]);
