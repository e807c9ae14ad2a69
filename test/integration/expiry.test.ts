import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { ExpiryWatch } from "../../src/domain/expiry.ts";
import { metricOf, Peer, startGateway, until } from "../support/gateway.ts";
import { endRest, startRest } from "../support/rest.ts";
import { call, dataFolder, removeFolder, startService } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";

test("a silent connection is closed when its device may not report any longer, and stays when it was only changed", async () => {
  const world = await startGateway();
  const changed = (key: number, id: string) => world.bus.publish({ type: "deviceChanged", accountKey: 1, key, id });
  world.intake.register("one");
  world.intake.register("two");
  const [first, second] = [new Peer(world.port), new Peer(world.port)];
  first.send("#I,one\n");
  second.send("#I,two\n");
  await Promise.all([first.expect("#I\n"), second.expect("#I\n")]);
  changed(1, "one");
  changed(2, "two");
  first.send("#P,1\n");
  second.send("#P,1\n");
  await Promise.all([first.expect("#P,1\n"), second.expect("#P,1\n")]);
  world.intake.register("one", true);
  world.intake.remove("two");
  changed(1, "one");
  changed(2, "two");
  await Promise.all([first.closed, second.closed]);
  assert.equal(world.gateway.connections.devices, 0);
  assert.equal(await metricOf(world.metrics, 'waybeam_connections_closed_total{cause="expired"}'), 1);
  assert.equal(await metricOf(world.metrics, 'waybeam_connections_closed_total{cause="unknown"}'), 1);
  await world.gateway.stop();
});

test("a connection that stands for several devices goes on for the others", async () => {
  const world = await startGateway();
  for (const id of ["one", "two"]) world.intake.register(id);
  const peer = new Peer(world.port);
  peer.send("#A,one,1\n#A,two,2\n");
  await peer.expect("#A,1\n#A,2\n");
  world.intake.register("one", true);
  world.bus.publish({ type: "deviceChanged", accountKey: 1, key: 1, id: "one" });
  await until(() => world.gateway.connections.devices === 1);
  peer.send("#A,one,3\n#A,two,4\n");
  await peer.expect("#A,4\n");
  assert.deepEqual([world.intake.stored.get("one")?.length, world.intake.stored.get("two")?.length], [1, 2]);
  peer.end();
  await world.gateway.stop();
});

test("over the real store each device is told of at its moment, also when the clock is set", async () => {
  const rest = await startRest();
  const token = await rest.ownerToken();
  const watch = new ExpiryWatch({ devices: rest.store.devices, bus: rest.bus, clock: rest.clock, log: silentLog });
  const told: string[] = [];
  const at = (ms: number) => new Date(rest.clock.now() + ms).toISOString();
  for (const [id, expires] of [
    ["soon", at(60_000)],
    ["later", at(3_600_000)],
    ["before", at(-1)],
  ])
    await rest.call("POST", "/api/devices", { token, body: { id, expires } });
  rest.bus.subscribe((event) => {
    if (event.type === "deviceChanged") told.push(event.id);
  });
  watch.start();
  // The device must not expire before the watch begins, however slow the machine is.
  rest.clock.jump(59_700);
  await until(() => told.length === 1);
  assert.deepEqual(told, ["soon"]);
  rest.clock.jump(3_600_000);
  await until(() => told.length === 2);
  rest.clock.jump(-3_600_000);
  await until(() => told.length === 3);
  assert.deepEqual(told, ["soon", "later", "later"]);
  await watch.stop();
  await endRest(rest);
});

test("at the moment of expiry the connection is closed, the licence is free, the device is listed no longer; a restart changes nothing", async () => {
  const directory = dataFolder();
  const environment = { WAYBEAM_LICENSES: "1" };
  let service = await startService(directory, environment);
  const list = async () => (await call<{ devices: unknown[] }>(service, "GET", "/api/devices")).devices.length;
  const free = async () => (await call<{ licenses: { free: number } }>(service, "GET", "/api/account")).licenses.free;
  await call(service, "POST", "/api/devices", { id: "990000000000001" });
  assert.equal(await free(), 0);
  const expires = new Date(Date.now() + 1500).toISOString();
  await call(service, "PUT", "/api/devices/990000000000001/limits", { expires });
  const socket = connect(service.devicePort, "127.0.0.1");
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  socket.on("error", () => {});
  socket.resume();
  // Teltonika's login: the IMEI, answered with 01.
  socket.write(Buffer.concat([Buffer.from([0, 15]), Buffer.from("990000000000001")]));
  await closed;
  assert.deepEqual([await list(), await free()], [0, 1]);
  await call(service, "POST", "/api/devices", { id: "990000000000003" });
  await assert.rejects(call(service, "PUT", "/api/devices/990000000000001", { expires: null }), /no license available/);
  await service.stop();
  service = await startService(directory, environment);
  assert.deepEqual([await list(), await free()], [1, 0]);
  await service.stop();
  removeFolder(directory);
});
