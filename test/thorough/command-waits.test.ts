import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Peer, startGateway } from "../support/gateway.ts";
import { endRest, startRest } from "../support/rest.ts";

/** A registered device that is connected, and what can be done with it and its commands. */
async function connected(t: TestContext, commandWaitSeconds: number) {
  const { gateway, intake, bus, port } = await startGateway();
  const rest = await startRest({ limits: { commandWaitSeconds }, dispatcher: gateway.dispatcher });
  t.after(async () => {
    await gateway.stop();
    await endRest(rest);
  });
  const token = await rest.ownerToken();
  const path = "/api/devices/d";
  const expires = new Date(rest.clock.now() + 60_000).toISOString();
  const { status } = await rest.call("POST", "/api/devices", { token, body: { id: "d", expires } });
  assert.equal(status, 201);
  intake.register("d");
  const peer = new Peer(port);
  t.after(() => peer.end());
  peer.send("#I,d\n");
  await peer.expect("#I\n");
  const changed = () => bus.publish({ type: "deviceChanged", accountKey: 1, key: 1, id: "d" });
  return {
    peer,
    send: (command: string, fields: object = {}) =>
      rest.call("POST", `${path}/sendCommand`, { token, body: { command, ...fields } }),
    records: async () => (await rest.call("GET", `${path}/commands`, { token })).json.commands.toReversed(),
    expire: () => {
      rest.clock.jump(60_000);
      intake.register("d", true);
      changed();
    },
    remove: async () => {
      await rest.call("DELETE", path, { token });
      intake.remove("d");
      changed();
    },
  };
}

/** Longer than these tests may take: nobody is to wait for it. */
const patient = 120;
const options = { timeout: 100_000 };

test(
  "the device expires while its command's reply is waited for, and others wait for their turn",
  options,
  async (t) => {
    const device = await connected(t, patient);
    const written = device.send("one");
    await device.peer.expect("one");
    const [queued, atOnce] = [device.send("two"), device.send("three", { ttlSeconds: 0, encode: true })];
    while ((await device.records()).length < 2) await new Promise((resolve) => setImmediate(resolve));
    device.expire();
    assert.match((await written).json.result, /^sent: the device expired before a reply came/);
    for (const answer of [await queued, await atOnce]) {
      assert.equal(answer.status, 409);
      assert.equal(answer.json.error, "device expired");
    }
    await device.peer.closed;
    assert.equal(device.peer.received, "");
    const records = await device.records();
    assert.deepEqual(
      records.map(({ state, sentAt, failure }: Record<string, unknown>) => [state, sentAt === null, failure]),
      [
        ["sent", false, "the device expired before a reply came: it may or may not have reached the device"],
        ["failed", true, "the device expired"],
        ["failed", true, "the device expired"],
      ],
    );
  },
);

test(
  "the device is deleted while its command's reply is waited for, and others wait for their turn",
  options,
  async (t) => {
    const device = await connected(t, patient);
    const written = device.send("one");
    await device.peer.expect("one");
    const others = [device.send("two"), device.send("three", { ttlSeconds: 0 })];
    while ((await device.records()).length < 2) await new Promise((resolve) => setImmediate(resolve));
    await device.remove();
    for (const answer of await Promise.all([written, ...others])) {
      assert.equal(answer.status, 404);
      assert.equal(answer.json.error, "device not found");
    }
  },
);

test(
  "raw bytes to a connected device wait for its reply like any command, whether they may be queued or not",
  options,
  async (t) => {
    const device = await connected(t, patient);
    for (const fields of [{}, { ttlSeconds: 0 }, { encode: true }]) {
      const answer = device.send("where", fields);
      await device.peer.expect("encode" in fields ? "!where\n" : "where");
      // Longer than bytes are waited for that were queued while the device was away.
      await new Promise((resolve) => setTimeout(resolve, 800));
      device.peer.send("#C,here\n");
      assert.equal((await answer).json.result, "here", JSON.stringify(fields));
    }
  },
);

test(
  "behind commands that are not answered a request waits as long as for a reply, and says where it stands",
  options,
  async (t) => {
    const device = await connected(t, 1);
    // So many that the last one's turn is seconds away on any machine.
    const texts = [..."abcdef"];
    const answers: ReturnType<typeof device.send>[] = [];
    for (const text of texts) {
      answers.push(device.send(`!${text}`, { encode: true }));
      // Calls that are made at once may be stored in any order.
      while ((await device.records()).length < answers.length) await new Promise((resolve) => setImmediate(resolve));
    }
    const atOnce = await device.send("now", { ttlSeconds: 0 });
    assert.equal(atOnce.status, 408);
    assert.deepEqual(atOnce.json.details, [
      "earlier commands to the device are being answered; this request sent nothing",
    ]);
    const results = (await Promise.all(answers)).map(({ json }) => json.result.split(/[:,]/)[0]);
    assert.equal(results[0], "sent");
    assert.equal(results.at(-1), "queued");
    // All of them are written in the end, and the one that was given up is not.
    let received = "";
    while (!received.includes("!!f\n")) {
      received = device.peer.received;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.deepEqual(received.match(/[a-z]+/g), texts);
    assert.equal((await device.records()).length, texts.length);
  },
);
