import assert from "node:assert/strict";
import { test } from "node:test";
import type { Admitted } from "../../src/ports/intake.ts";
import { fix, mail, minute, RuleLane, start } from "../support/rule-lane.ts";

const speed = { type: "speedOver", parameters: { kmh: 80 } } as const;

/** Alerts with their states: minutes of the event and of its end. */
async function handled(lane: RuleLane, device: Admitted): Promise<readonly string[]> {
  return (await lane.alerts(device)).map(({ name, phase, time, handling: { state, endedAt } }) => {
    const end = endedAt === null ? "" : ` until ${(endedAt - start) / minute}`;
    return `${(time - start) / minute} ${name} ${phase}: ${state}${end}`;
  });
}

async function laneWith(context: Parameters<typeof RuleLane.open>[0]): Promise<readonly [RuleLane, Admitted]> {
  const lane = await RuleLane.open(context);
  lane.now = start + 100 * minute;
  await lane.rule(speed, { name: "plain" });
  await lane.rule(speed, { name: "critical", critical: true });
  await lane.rule(speed, { name: "told", notifyWhenOver: true, channels: { email: [mail], sms: [], webhook: [] } });
  return [lane, await lane.device("d")];
}

test("an alert from a backlog closes with its end, even if nobody is told of the end", async (context) => {
  const [lane, device] = await laneWith(context);
  await lane.send(device, fix(0, 50), fix(60, 50));
  await lane.send(device, fix(10, 92), fix(20, 50), fix(30, 95), fix(31, 95), fix(40, 50));
  await lane.reviewed(device);
  assert.deepEqual((await handled(lane, device)).toSorted(), [
    "10 critical raised: open until 20",
    "10 plain raised: closed until 20",
    "10 told raised: closed until 20",
    "20 told over: closed",
    "30 critical raised: open until 40",
    "30 plain raised: closed until 40",
    "30 told raised: closed until 40",
    "40 told over: closed",
  ]);
});

test("an alert closes when the report of its end comes late", async (context) => {
  const [lane, device] = await laneWith(context);
  await lane.send(device, fix(0, 50), fix(10, 92), { ...fix(60, 92), alarms: ["sos"] });
  await lane.send(device, fix(70, 50));
  await lane.send(device, fix(65, 50), fix(62, 90));
  await lane.reviewed(device);
  const states = await handled(lane, device);
  assert.ok(states.includes("10 plain raised: closed until 70"), states.join());
});

test("an alert that late records show to be wrong closes, and its withdrawal is closed from the start", async (context) => {
  const [lane, device] = await laneWith(context);
  await lane.rule({ type: "inputActiveFor", parameters: { input: 1, minutes: 10 } }, { name: "input" });
  const input = (on: boolean) => ({ readings: { input1: on } });
  await lane.send(device, fix(0, 50, input(true)), fix(30, 50, input(true)));
  assert.deepEqual(await handled(lane, device), ["10 input raised: open"]);
  await lane.send(device, fix(5, 50, input(false)), fix(25, 50, input(false)));
  await lane.reviewed(device);
  assert.deepEqual(await handled(lane, device), ["10 input raised: closed", "10 input withdrawn: closed"]);
});
