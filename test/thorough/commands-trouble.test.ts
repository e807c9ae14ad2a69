import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { protocols } from "../../src/protocols/index.ts";
import { as, failingAt, quick } from "../support/commands.ts";
import { Peer, startGateway, until } from "../support/gateway.ts";
import { endRest, startRest } from "../support/rest.ts";

test("queued commands survive a restart; what ran out meanwhile ends with it", { timeout: 60_000 }, async () => {
  const world = await startGateway();
  world.intake.register("d");
  let rest = await startRest({ limits: quick, dispatcher: world.gateway.dispatcher });
  const { directory } = rest;
  const token = await rest.ownerToken();
  await as(rest, token).create("d");
  await as(rest, token).send("d", { command: "short", ttlSeconds: 1 });
  await as(rest, token).send("d", { command: "long" });
  await rest.stop();
  await delay(1000);
  const second = await startGateway();
  second.intake.register("d");
  rest = await startRest({ limits: quick, dispatcher: second.gateway.dispatcher, directory });
  const peer = new Peer(second.port);
  peer.send("#I,d\n");
  await peer.expect("#I\nlong");
  peer.send("#C,ok\n");
  const user = as(rest, token);
  const states = async () => (await user.commands("d")).commands.map(({ state }: { state: string }) => state);
  while ((await states())[0] !== "delivered") await delay(5);
  while ((await states())[1] !== "expired") await delay(5);
  peer.end();
  for (const each of [world, second]) await each.gateway.stop();
  await endRest(rest);
});

test("a store that fails at any step of a command: never written twice", { timeout: 60_000 }, async () => {
  for (let failing = 1; failing <= 4; failing++) {
    const world = await startGateway();
    world.intake.register("d");
    let steps = 0;
    const rest = await startRest({
      limits: quick,
      dispatcher: world.gateway.dispatcher,
      spoil: (store) => ({
        ...store,
        commands: failingAt(store.commands, () => ++steps === failing),
      }),
    });
    const user = as(rest, await rest.ownerToken());
    await user.create("d");
    const peer = new Peer(world.port);
    peer.send("#I,d\n");
    await peer.expect("#I\n");
    await user.send("d", { command: "cut" });
    // On a busy machine the request may be answered before its command is written.
    if (failing > 1) await peer.expect("cut");
    assert.equal(peer.received, "");
    peer.end();
    await until(() => world.gateway.connections.devices === 0);
    const again = new Peer(world.port);
    again.send("#I,d\n");
    await again.expect("#I\n");
    const written = failing === 1 ? "cut" : "";
    await again.expect(written);
    again.send("#H\n");
    await again.expect("#H\n");
    const { state, failure } = (await user.commands("d")).commands[0];
    if (failing > 1) assert.equal(state, "sent");
    if (failing === 2) assert.match(failure ?? "", /^(no outcome was recorded.*)?$/);
    again.end();
    await world.gateway.stop();
    await endRest(rest);
  }
});

test("real protocols wrap the text and read the reply", { timeout: 60_000 }, async () => {
  const world = await startGateway({}, protocols);
  const rest = await startRest({ limits: quick, dispatcher: world.gateway.dispatcher });
  const user = as(rest, await rest.ownerToken());
  // A device each: one that comes back in another protocol gets no commands at first.
  for (const [id, imei, text, result] of [
    ["gt06", "100000000000001", "RELAY,1#", "RELAY,1# OK"],
    ["teltonika", "100000000000002", "getver", "getver OK"],
  ] as const) {
    await user.create(imei);
    const simulate = protocols.find((protocol) => protocol.id === id)?.simulate;
    assert.ok(simulate?.login && simulate.answer && simulate.obey);
    world.intake.register(imei);
    world.intake.register(`0${imei}`);
    const peer = new Peer(world.port);
    peer.send(simulate.login(imei, 1));
    await until(() => peer.received.length > 0 && world.gateway.connections.devices > 0);
    const before = peer.received.length;
    if (!world.gateway.connections.devices) continue;
    const answer = user.send(imei, { command: text, encode: true });
    await until(() => peer.received.length > before);
    const reply = simulate.obey(Buffer.from(peer.received.slice(before), "latin1"), imei, 2);
    assert.ok(reply);
    peer.send(reply);
    assert.equal((await answer).json.result, result);
    peer.end();
    await until(() => world.gateway.connections.devices === 0);
  }
  await world.gateway.stop();
  await endRest(rest);
});
