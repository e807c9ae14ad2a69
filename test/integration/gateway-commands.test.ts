import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { type TestContext, test } from "node:test";
import type { Dispatched } from "../../src/ports/dispatcher.ts";
import { latin1Of } from "../../src/wire/reader.ts";
import { command, Peer, patient, startGateway, until, untilRead, type World } from "../support/gateway.ts";

function withGateway(name: string, run: (world: World, context: TestContext) => Promise<void>): void {
  test(name, { timeout: 10_000 }, async (context) => {
    const world = await startGateway();
    for (const id of ["one", "two"]) world.intake.register(id);
    await run(world, context);
    await world.gateway.stop();
  });
}

async function connected(world: World, id = "one"): Promise<Peer> {
  const peer = new Peer(world.port);
  peer.send(`#I,${id}\n`);
  await peer.expect("#I\n");
  return peer;
}

withGateway("bytes are written as they are, text is wrapped, and the reply is the command's", async (world) => {
  const peer = await connected(world);
  const raw = command(world, "one", "\0\xff", patient, true);
  await peer.expect("\0\xff");
  assert.ok(raw.isWritten());
  peer.send("#C,done\n");
  assert.deepEqual(await raw.dispatched, { outcome: "answered", text: "done" });
  const wrapped = command(world, "one", "hello");
  await peer.expect("!hello\n");
  peer.send("#C,hi\n");
  assert.deepEqual(await wrapped.dispatched, { outcome: "answered", text: "hi" });
  const refused = await command(world, "one", "a\nb").dispatched;
  assert.deepEqual(refused, { outcome: "refused", reason: "a line feed ends a command" });
  peer.end();
});

withGateway(
  "a device that may not report any longer is found out by its message: its command is not waited for",
  async (world) => {
    for (const end of ["expired", "deleted", "unknowable"] as const) {
      world.intake.register("one");
      const peer = await connected(world);
      const { dispatched } = command(world, "one", "x");
      await peer.expect("!x\n");
      if (end === "expired") world.intake.register("one", true);
      else world.intake.remove("one");
      world.intake.down = end === "unknowable";
      peer.send("#H\n");
      assert.deepEqual(await dispatched, { outcome: "lost" }, end);
      world.intake.down = false;
      peer.end();
    }
  },
);

withGateway("a device that was only changed answers its command", async (world) => {
  const peer = await connected(world);
  for (const slow of [false, true]) {
    const { dispatched } = command(world, "one", "x");
    await peer.expect("!x\n");
    world.intake.register("one");
    world.intake.slow = slow;
    peer.send("#C,done\n");
    assert.deepEqual(await dispatched, { outcome: "answered", text: "done" });
  }
  peer.end();
});

withGateway("a command that comes while its device is asked for again waits for the answer", async (world) => {
  const peer = await connected(world);
  world.intake.register("one");
  world.intake.silent = true;
  peer.send("#H\n");
  await until(() => world.intake.asked === 1);
  const { dispatched } = command(world, "one", "x");
  world.intake.answer();
  await peer.expect("#H\n!x\n");
  peer.send("#C,done\n");
  assert.deepEqual(await dispatched, { outcome: "answered", text: "done" });
  // Nor may one be written where the answer is no.
  world.intake.register("one", true);
  peer.send("#H\n");
  await until(() => world.intake.asked === 1);
  const late = command(world, "one", "y");
  world.intake.answer();
  assert.deepEqual(await late.dispatched, { outcome: "notConnected" });
  assert.equal(late.isWritten(), false);
  peer.end();
});

withGateway(
  "a connection that is left for another one while its device is asked for again does not come back",
  async (world) => {
    const older = await connected(world);
    world.intake.register("one");
    world.intake.silent = true;
    older.send("#H\n");
    await until(() => world.intake.asked === 1);
    world.intake.silent = false;
    const newer = await connected(world);
    await older.closed;
    world.intake.answer();
    const { dispatched } = command(world, "one", "x");
    await newer.expect("!x\n");
    newer.send("#C,done\n");
    assert.deepEqual(await dispatched, { outcome: "answered", text: "done" });
    newer.end();
  },
);

withGateway("a device that is not connected: nothing is written", async (world) => {
  const { dispatched, isWritten } = command(world, "one", "x");
  assert.deepEqual(await dispatched, { outcome: "notConnected" });
  assert.equal(isWritten(), false);
  const peer = await connected(world);
  peer.end();
  await until(() => world.gateway.connections.devices === 0);
  assert.deepEqual(await command(world, "one", "x").dispatched, { outcome: "notConnected" });
});

withGateway(
  "nothing is written before the caller says so: only for what will be written is it asked",
  async (world) => {
    const peer = await connected(world);
    const refused = command(world, "one", "a\nb");
    assert.equal((await refused.dispatched).outcome, "refused");
    assert.equal(refused.isWritten(), false);
    const say = Promise.withResolvers<boolean>();
    const asked = Promise.withResolvers<void>();
    const { dispatcher } = world.gateway;
    const withheld = dispatcher.dispatch("one", { encode: "x" }, patient, () => {
      asked.resolve();
      return say.promise;
    });
    const failing = dispatcher.dispatch("one", { encode: "y" }, patient, () => Promise.reject(new Error("no disk")));
    await asked.promise;
    say.resolve(false);
    assert.deepEqual(await withheld, { outcome: "withheld" });
    await assert.rejects(failing, /no disk/);
    const { dispatched } = command(world, "one", "z");
    await peer.expect("!z\n");
    peer.send("#C,a\n");
    assert.deepEqual(await dispatched, { outcome: "answered", text: "a" });
    const gone = dispatcher.dispatch("one", { encode: "late" }, patient, async () => {
      peer.end();
      await until(() => world.gateway.connections.devices === 0);
      return true;
    });
    assert.deepEqual(await gone, { outcome: "notConnected" });
  },
);

withGateway("one at a time for each device; devices do not wait for each other", async (world) => {
  const peer = await connected(world);
  const other = await connected(world, "two");
  const first = command(world, "one", "1");
  const second = command(world, "one", "2");
  const elsewhere = command(world, "two", "3");
  await peer.expect("!1\n");
  await other.expect("!3\n");
  assert.equal(peer.received, "");
  assert.equal(second.isWritten(), false);
  other.send("#C,c\n");
  assert.deepEqual(await elsewhere.dispatched, { outcome: "answered", text: "c" });
  peer.send("#C,a\n");
  assert.deepEqual(await first.dispatched, { outcome: "answered", text: "a" });
  await peer.expect("!2\n");
  peer.send("#C,b\n");
  assert.deepEqual(await second.dispatched, { outcome: "answered", text: "b" });
  for (const each of [peer, other]) each.end();
});

withGateway("no reply in time is told; a late one still reaches who waits for it", async (world) => {
  const peer = await connected(world);
  const dispatched = await command(world, "one", "slow", 5).dispatched;
  assert.equal(dispatched.outcome, "sent");
  peer.send("#C,late\n");
  assert.deepEqual("later" in dispatched && (await dispatched.later), { text: "late" });
  peer.end();
});

withGateway("replies without a name: in order, once there is one for each command that waits", async (world) => {
  const peer = await connected(world);
  const first = await command(world, "one", "1", 5).dispatched;
  const second = command(world, "one", "2");
  await peer.expect("!1\n!2\n");
  peer.send("#C,late\n#C,answer\n");
  assert.deepEqual(await second.dispatched, { outcome: "answered", text: "answer" });
  assert.deepEqual("later" in first && (await first.later), { text: "late" });
  peer.end();
});

withGateway(
  "a reply that may be an earlier command's is nobody's; it is told, and a new connection tells again",
  async (world, { mock }) => {
    const peer = await connected(world);
    const first = await command(world, "one", "1", 5).dispatched;
    // The wait is over when the reply was read, however long that takes.
    mock.timers.enable({ apis: ["setTimeout"] });
    const second = command(world, "one", "2");
    await peer.expect("!1\n!2\n");
    peer.send("#C,whose\n");
    await untilRead(world.metrics, "#I,one\n#C,whose\n".length);
    mock.timers.tick(patient);
    mock.timers.reset();
    const answer = await second.dispatched;
    assert.ok(answer.outcome === "sent");
    assert.equal(answer.unclear, "whose");
    peer.end();
    assert.equal(await answer.later, undefined);
    assert.equal("later" in first && (await first.later), undefined);
    const again = await connected(world);
    const third = command(world, "one", "3");
    await again.expect("!3\n");
    again.send("#C,clear\n");
    assert.deepEqual(await third.dispatched, { outcome: "answered", text: "clear" });
    again.end();
  },
);

withGateway("a reply without a name on another conversation than the command's is nobody's", async (world) => {
  const peer = await connected(world);
  const again = await connected(world);
  const { dispatched } = command(world, "one", "1", 50);
  await again.expect("!1\n");
  peer.send("#C,stray\n");
  assert.equal((await dispatched).outcome, "sent");
  for (const each of [peer, again]) each.end();
});

withGateway("a connection that ends leaves its command lost, and no reply of the next one is its", async (world) => {
  const peer = await connected(world);
  const { dispatched } = command(world, "one", "1");
  await peer.expect("!1\n");
  peer.end();
  assert.deepEqual(await dispatched, { outcome: "lost" });
  const again = await connected(world);
  again.send("#C,stray\n");
  const second = command(world, "one", "2");
  await again.expect("!2\n");
  again.send("#C,own\n");
  const answered = await second.dispatched;
  assert.equal(answered.outcome, "answered");
  again.end();
});

withGateway("a device that was changed is asked for anew; one that is gone gets nothing", async (world) => {
  const peer = await connected(world);
  world.intake.register("one");
  world.bus.publish({ type: "deviceChanged", accountKey: 1, key: 1, id: "one" });
  const { dispatched } = command(world, "one", "1");
  await peer.expect("!1\n");
  peer.send("#C,a\n");
  assert.deepEqual(await dispatched, { outcome: "answered", text: "a" });
  world.intake.remove("one");
  world.bus.publish({ type: "deviceChanged", accountKey: 1, key: 1, id: "one" });
  assert.deepEqual(await command(world, "one", "2").dispatched, { outcome: "notConnected" });
  world.intake.down = true;
  assert.deepEqual(await command(world, "one", "3").dispatched, { outcome: "notConnected" });
  world.intake.down = false;
  peer.end();
});

withGateway(
  "a device that is removed loses its command at once, though its connection stands for another",
  async (world) => {
    const peer = await connected(world);
    const { dispatched } = command(world, "one", "1");
    await peer.expect("!1\n");
    peer.send("#I,two\n");
    await peer.expect("#I\n");
    world.intake.remove("one");
    world.bus.publish({ type: "deviceChanged", accountKey: 1, key: 1, id: "one" });
    assert.deepEqual(await dispatched, { outcome: "lost" });
    peer.end();
  },
);

withGateway("a connection of several devices: text is wrapped only for the one that speaks", async (world) => {
  const peer = await connected(world);
  peer.send("#I,two\n");
  await peer.expect("#I\n");
  assert.deepEqual(await command(world, "one", "x").dispatched, { outcome: "notConnected" });
  const { dispatched } = command(world, "two", "y");
  await peer.expect("!y\n");
  peer.send("#C,z\n");
  assert.deepEqual(await dispatched, { outcome: "answered", text: "z" });
  peer.end();
});

withGateway(
  "a device is told of once it is reached: after its login is answered, before anything else",
  async (world) => {
    const reached: string[] = [];
    const peer = new Peer(world.port);
    const commands: Promise<Dispatched>[] = [];
    world.gateway.dispatcher.onReachable((device) => {
      reached.push(device);
      commands.push(command(world, device, "queued").dispatched);
    });
    peer.send("#I,one\n");
    await peer.expect("#I\n!queued\n");
    peer.send("#C,ok\n#H\n");
    await peer.expect("#H\n");
    assert.deepEqual(reached, ["one"]);
    assert.deepEqual(await commands[0], { outcome: "answered", text: "ok" });
    world.intake.hold = true;
    const second = new Peer(world.port);
    second.send("#A,two,1\n");
    await until(() => world.intake.waiting === 1);
    assert.deepEqual(reached, ["one"]);
    world.intake.commit();
    await second.expect("#A,1\n!queued\n");
    world.intake.hold = false;
    for (const each of [peer, second]) each.end();
  },
);

withGateway("over UDP to the last address", async (world) => {
  const messages: string[] = [];
  const [first, second] = [createSocket("udp4"), createSocket("udp4")];
  for (const [index, socket] of [first, second].entries())
    socket.on("message", (bytes) => messages.push(`${index}${latin1Of(bytes)}`));
  first.send("#I,one\n", world.port, "127.0.0.1");
  await until(() => messages.length === 1);
  second.send("#I,one\n", world.port, "127.0.0.1");
  await until(() => messages.length === 2);
  const { dispatched } = command(world, "one", "x");
  await until(() => messages.length === 3);
  assert.deepEqual(messages, ["0#I\n", "1#I\n", "1!x\n"]);
  second.send("#C,y\n", world.port, "127.0.0.1");
  assert.deepEqual(await dispatched, { outcome: "answered", text: "y" });
  for (const socket of [first, second]) socket.close();
});

withGateway("stopping, nothing more is written", async (world) => {
  const peer = await connected(world);
  const { dispatched } = command(world, "one", "1");
  await peer.expect("!1\n");
  await world.gateway.stop();
  assert.deepEqual(await dispatched, { outcome: "lost" });
  assert.deepEqual(await command(world, "one", "2").dispatched, { outcome: "notConnected" });
});
