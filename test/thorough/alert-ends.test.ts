import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { folderOf, startService } from "../support/service.ts";

test("an alert closes when it is over, even if nobody is told; a critical one stays open until it is acknowledged", async (context) => {
  const service = await startService(folderOf(context));
  context.after(() => service.stop());
  const call = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${service.token}`, "content-type": "application/json" };
    const answer = await fetch(`${service.url}/api${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
    return Object(await answer.json());
  };
  await call("POST", "/devices", { id: "d" });
  const rule = { type: "speedOver", parameters: { kmh: 80 }, devices: ["d"] };
  await call("POST", "/alertRules", { ...rule, name: "Plain" });
  await call("POST", "/alertRules", { ...rule, name: "Critical", critical: true });
  const begin = Date.now() - 60_000;
  const report = async (seconds: number, knots: number) => {
    const query = `id=d&lat=4.7&lon=-74&timestamp=${begin + seconds * 1000}&speed=${knots}`;
    assert.equal((await fetch(`http://127.0.0.1:${service.devicePort}/?${query}`)).status, 200);
  };
  await report(1, 60);
  await report(20, 10);
  interface Shown {
    readonly id: string;
    readonly state: string;
    readonly alerts: readonly string[];
    readonly endedAt?: string;
  }
  const shown = async () =>
    new Map((await call("GET", "/alerts")).alerts.map((one: Shown) => [one.alerts[0], one])) as Map<string, Shown>;
  let alerts = await shown();
  while (alerts.get("Plain")?.state !== "closed") {
    await delay(50);
    alerts = await shown();
  }
  const [plain, critical] = [alerts.get("Plain"), alerts.get("Critical")];
  assert.deepEqual([plain?.state, critical?.state], ["closed", "open"]);
  assert.deepEqual([plain?.endedAt, critical?.endedAt], Array(2).fill(new Date(begin + 20_000).toISOString()));
  const done = await call("POST", "/alerts/acknowledge", { ids: [critical?.id ?? ""] });
  assert.equal(done.alerts[0].state, "closed");
});
