import assert from "node:assert/strict";
import { test } from "node:test";
import { protocols } from "../../src/protocols/index.ts";
import { Peer, until } from "../support/gateway.ts";
import { call, dataFolder, removeFolder, startService } from "../support/service.ts";

const imei = "100000000000001";

test("killed after a command was written and before its reply: it is never written again, and its record says where it stands", {
  timeout: 60_000,
}, async () => {
  const simulate = protocols.find(({ id }) => id === "gt06")?.simulate;
  assert.ok(simulate?.login);
  const login = simulate.login(imei, 1);
  const directory = dataFolder();
  let service = await startService(directory);
  await call(service, "POST", "/api/devices", { id: imei });
  const path = `/api/devices/${imei}`;
  const peer = new Peer(service.devicePort);
  peer.send(login);
  await until(() => peer.received.length > 0);
  const before = peer.received.length;
  const answer = call(service, "POST", `${path}/sendCommand`, { command: "STOP" }).catch(() => "no answer");
  await until(() => peer.received.length > before);
  assert.equal(peer.received.slice(before), "STOP");
  await service.kill();
  assert.equal(await answer, "no answer");
  service = await startService(directory);
  await call(service, "POST", `${path}/sendCommand`, { command: "queued" });
  const again = new Peer(service.devicePort);
  again.send(login);
  await until(() => again.received.includes("queued"));
  assert.ok(!again.received.includes("STOP"));
  type Records = { commands: { command: string; state: string; failure: string | null }[] };
  const { commands } = await call<Records>(service, "GET", `${path}/commands`);
  const stopped = commands.find(({ command }) => command === "STOP");
  assert.equal(stopped?.state, "sent");
  assert.match(stopped?.failure ?? "", /^(no outcome was recorded: it may or may not have reached the device)?$/);
  again.end();
  await service.stop();
  removeFolder(directory);
});
