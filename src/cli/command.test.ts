import assert from "node:assert/strict";
import { test } from "node:test";
import { api, failure, ok, waybeam } from "../../test/support/command-line.ts";
import { exitCodes } from "./exit.ts";

const record = { id: "c1", state: "delivered", channel: "data", command: "x", reply: "done", failure: null };

test("command send sends the text in its format, and prints the result", async (context) => {
  const { url, requests } = await api(context, () => ok({ result: "done", commandId: "c1" }));
  const bodyOf = async (...args: string[]) => {
    requests.length = 0;
    const { code, out } = await waybeam(["command", "send", "d1", ...args], { url });
    assert.deepEqual([code, out], [0, "done\n"]);
    const request = requests.find(({ path }) => path === "/api/devices/d1/sendCommand");
    assert.equal(request?.method, "POST");
    return request?.body;
  };
  assert.deepEqual(await bodyOf("RELAY,1#"), { command: "RELAY,1#" });
  assert.deepEqual(await bodyOf("00 FF", "--hex", "--ttl", "0"), { command: "00 FF", format: "Hex", ttlSeconds: 0 });
  assert.deepEqual(await bodyOf("QQ==", "--base64", "--sms"), { command: "QQ==", format: "Base64", sms: true });
  assert.deepEqual(await bodyOf("x", "--encode"), { command: "x", encode: true });
  const json = await waybeam(["command", "send", "d1", "x", "--json"], { url });
  assert.deepEqual(JSON.parse(json.out), { result: "done", commandId: "c1" });
  for (const args of [["x", "--hex", "--base64"], ["x", "--ttl", "soon"], []])
    assert.equal((await waybeam(["command", "send", "d1", ...args], { url })).code, exitCodes.usage.code);
});

test("command send --wait follows the record to its end", async (context) => {
  let looks = 0;
  let end: object = record;
  const { url } = await api(context, ({ method }) => {
    if (method === "POST") return ok({ result: "queued: the device is not connected", commandId: "c1" });
    return ok({ commands: [{ ...record, id: "c2" }, ++looks < 2 ? { ...record, state: "queued" } : end] });
  });
  const done = await waybeam(["command", "send", "d1", "x", "--wait"], { url });
  assert.deepEqual([done.code, done.out], [0, "done\n"]);
  assert.match(done.err, /queued: the device is not connected/);
  end = { ...record, state: "expired", reply: null };
  const expired = await waybeam(["command", "send", "d1", "x", "--wait"], { url });
  assert.equal(expired.code, exitCodes.failure.code);
  assert.match(expired.err, /the command was not carried out: expired/);
});

test("command list and cancel", async (context) => {
  const { url, requests } = await api(context, ({ method, path }) =>
    method === "GET"
      ? ok({ commands: path.includes("none") ? [] : [record], ...(path.includes("limit=1") && { nextCursor: "n" }) })
      : path.endsWith("c1")
        ? ok({})
        : failure(409, "command already finished"),
  );
  const list = await waybeam(["command", "list", "d1", "--limit", "1"], { url });
  assert.match(list.out, /^ID +TIME +STATE.*\nc1 .*delivered.*done\n$/);
  assert.match(list.err, /older commands/);
  assert.deepEqual(JSON.parse((await waybeam(["command", "list", "d1", "--json"], { url })).out), record);
  assert.match((await waybeam(["command", "list", "none"], { url })).err, /no command yet/);
  assert.equal((await waybeam(["command", "list", "d1", "--limit", "0"], { url })).code, exitCodes.usage.code);
  assert.equal((await waybeam(["command", "cancel", "d1", "c1"], { url })).code, 0);
  assert.equal(requests.at(-1)?.path, "/api/devices/d1/commands/c1");
  assert.equal((await waybeam(["command", "cancel", "d1", "c2"], { url })).code, exitCodes.conflict.code);
});
