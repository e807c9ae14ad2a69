import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import { osmand } from "../../src/protocols/osmand/index.ts";
import { teltonika } from "../../src/protocols/teltonika/index.ts";
import { numberedReport, speechOf } from "../support/acked-tracker.ts";
import { call, dataFolder, register, removeFolder, type Service, startService } from "../support/service.ts";

const device = "352093081452251";
const start = Date.UTC(2026, 5, 1);

/** What a peer answers to bytes that are written in one piece, until `enough` of it has come. */
async function answered(port: number, bytes: Uint8Array, enough: (received: Buffer) => boolean): Promise<Buffer> {
  const socket: Socket = connect(port, "127.0.0.1");
  let received: Buffer = Buffer.alloc(0);
  socket.write(bytes);
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk]);
    if (enough(received)) break;
  }
  socket.destroy();
  return received;
}

describe("bursts", { timeout: 60_000 }, () => {
  const directory = dataFolder();
  let service: Service;
  before(async () => {
    service = await startService(directory);
    await register(service, [device]);
  });
  after(async () => {
    await service.stop();
    removeFolder(directory);
  });

  const stored = async (from: number) => {
    const to = new Date(from + 86_399_999).toISOString();
    const range = { from: new Date(from).toISOString(), to };
    const { locations } = await call<{ locations: object[] }>(
      service,
      "POST",
      `/api/devices/${device}/locations`,
      range,
    );
    return locations.length;
  };

  test("200 packets that come in one piece are all stored and acknowledged", async () => {
    const { login, message } = speechOf(teltonika, start);
    assert.ok(login);
    const packets = Array.from({ length: 200 }, (_, index) => message(device, index, index + 1));
    const burst = Buffer.concat([login(device, 0), ...packets]);
    const received = await answered(service.devicePort, burst, ({ length }) => length >= 1 + 200 * 4);
    assert.equal(received.length, 1 + 200 * 4);
    assert.equal(await stored(start), 200);
  });

  test("three reports over HTTP that come in one piece are all stored and answered", async () => {
    const { simulate } = osmand;
    assert.ok(simulate);
    const day = start + 86_400_000;
    const requests = [1, 2, 3].map((number) => simulate.report(device, [numberedReport(day, number)], number));
    const received = await answered(
      service.devicePort,
      Buffer.concat(requests),
      (bytes) => bytes.toString().split("HTTP/1.1 200").length === 4,
    );
    assert.match(received.toString(), /^(HTTP\/1\.1 200 [\s\S]*?){3}$/);
    assert.equal(await stored(day), 3);
  });
});
