import assert from "node:assert/strict";
import { test } from "node:test";
import { protocols } from "../../src/protocols/index.ts";
import type { SimulatedDevice } from "../../src/wire/protocol.ts";
import { bytesOfLatin1 } from "../../src/wire/reader.ts";
import { Peer, simulatedReport as report, startGateway, until } from "../support/gateway.ts";

const device = "100000000000001";

/** How many reports the answers so far acknowledge. */
function answeredReports(simulate: SimulatedDevice, received: string): number {
  let reports = 0;
  for (let bytes = bytesOfLatin1(received); bytes.length > 0; ) {
    const answer: ReturnType<NonNullable<SimulatedDevice["answer"]>> = simulate.answer?.(bytes) ?? "more";
    if (answer === "more") break;
    assert.ok(answer.accepted);
    reports += answer.reports;
    bytes = bytes.slice(answer.length);
  }
  return reports;
}

for (const protocol of protocols) {
  const { simulate } = protocol;
  if (simulate === undefined) continue;
  test(`${protocol.id}: recognised among all on the one port, and acknowledged only for what is stored`, {
    timeout: 10_000,
  }, async () => {
    const world = await startGateway({}, protocols);
    // A protocol may know its devices by the last digits of the identifier only.
    for (let digits = 10; digits <= device.length; digits++) world.intake.register(device.slice(-digits));
    world.intake.register(`0${device}`);
    world.intake.hold = true;
    const peer = new Peer(world.port);
    const answers = () => answeredReports(simulate, peer.received);
    if (simulate.login !== undefined) {
      peer.send(simulate.login(device, 1));
      await until(() => world.gateway.connections.devices === 1);
    }
    peer.send(simulate.report(device, [report], 2));
    await until(() => world.intake.waiting > 0);
    assert.equal(answers(), 0);
    // A login may report something of its own.
    const fix = () => [...world.intake.stored.values()].flat().find(({ type }) => type === "fix");
    await until(() => {
      world.intake.commit();
      return fix() !== undefined;
    });
    assert.partialDeepStrictEqual(fix(), { type: "fix", time: report.time, valid: true });
    if (simulate.answer !== undefined) await until(() => answers() > 0);
    peer.end();
    await world.gateway.stop();
  });
}
