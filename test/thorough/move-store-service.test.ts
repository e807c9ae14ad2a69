import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { crashFleet } from "../support/crash-fleet.ts";
import { until } from "../support/gateway.ts";
import { addOddRows, assertSame } from "../support/move-store.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { call, folderOf, register, type Service, startService } from "../support/service.ts";
import { commandLine } from "../support/waybeam.ts";

type Json = Readonly<Record<string, unknown>>;

const ids = (list: unknown): readonly string[] => (Array.isArray(list) ? list.map(({ id }) => String(id)) : []);

/** Makes something of each kind that the API makes. Gives the path of the rule that tells of movement. */
async function fill(service: Service, device: string): Promise<string> {
  const post = (path: string, body: object) => call<Json>(service, "POST", path, body);
  const geometry = { type: "Point", coordinates: [-74, 4.7], radius: 1 };
  const zone = await post("/api/geofences", { name: "Zone ñ", geometry });
  const group = await post("/api/groups", { name: "Group", devices: [device, "not registered"] });
  const user = { name: "Ana", email: "ana@example.org", country: "CO", timeZone: "America/Bogota" };
  await post("/api/users", {
    ...user,
    password: "a long password",
    privileges: ["read", "sendCommands"],
  });
  const moving = { name: "Moving", type: "speedOver", parameters: { kmh: 10 }, devices: [device] };
  const { id: rule } = await post("/api/alertRules", moving);
  const webhook = [{ url: "https://hooks.example.org/x", secret: "0123456789abcdef0123456789" }];
  const email = [{ to: "ops@example.org" }];
  const groups = [group.id];
  await post("/api/alertRules", {
    name: "Hooked",
    type: "sos",
    devices: [device],
    groups,
    channels: { webhook, email },
  });
  await post("/api/alertRules", {
    name: "Zones",
    type: "forbiddenZone",
    parameters: { zones: [zone.id] },
    devices: [device],
  });
  await post(`/api/devices/${device}/sendCommand`, { command: "stop", format: "Text" });
  await call(service, "PUT", `/api/devices/${device}/limits`, { dailySmsLimit: 3 });
  await post("/api/devices", { id: "another", name: "Another", aliases: ["alias-of-another"], tags: { a: "b" } });
  await post("/api/devices", { id: "removed", name: "Removed" });
  await call(service, "DELETE", "/api/devices/removed");
  return `/api/alertRules/${rule}`;
}

/** What changes with each request, or with the time. */
const passing: ReadonlySet<string> = new Set([
  "apiUsage",
  "apiDailyUsage",
  "nextCursor",
  "lastLogin",
  "inactiveSeconds",
]);

function lasting(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer, (key, value: unknown) => (passing.has(key) ? undefined : value)));
}

/** What the API answers to everything that can be asked of a service. */
async function answersOf(service: Service): Promise<ReadonlyMap<string, unknown>> {
  const answers = new Map<string, unknown>();
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await call<Json>(service, method, path, body);
    answers.set(`${method} ${path}`, lasting(answer));
    return answer;
  };
  for (const path of ["/api/account", "/api/account/oldPositions?days=1", "/api/recipients"]) await ask("GET", path);
  for (const [path, list] of [
    ["/api/users", "users"],
    ["/api/groups", "groups"],
    ["/api/geofences", "geofences"],
    ["/api/alertRules", "rules"],
  ] as const)
    for (const id of ids((await ask("GET", path))[list])) await ask("GET", `${path}/${id}`);
  const range = { from: "2000-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z" };
  const own = [
    "",
    "/limits",
    "/commands",
    "/lastLocation",
    "/alertRules",
    "/notifications",
    "/refused",
    "/identity",
    "/oldPositions?days=1",
  ];
  for (const id of ids((await ask("GET", "/api/devices")).devices)) {
    for (const part of own) {
      const path = `/api/devices/${id}${part}`;
      await ask("GET", path).catch((error: Error) => answers.set(`GET ${path}`, error.message));
    }
    for (const part of ["locations", "readings", "alerts"]) await ask("POST", `/api/devices/${id}/${part}`, range);
  }
  return answers;
}

function assertAnswers(found: ReadonlyMap<string, unknown>, expected: ReadonlyMap<string, unknown>): void {
  assert.deepEqual([...found.keys()], [...expected.keys()]);
  for (const [asked, answer] of expected) assert.deepEqual(found.get(asked), answer, asked);
}

describe("a service that was moved", { skip: noPostgres }, () => {
  it("answers as before on PostgreSQL, and again in a folder", { timeout: 200_000 }, async (context) => {
    const server = await PostgresServer.start();
    const directory = folderOf(context);
    const service = await startService(directory);
    context.after(() => service.kill());
    const trackers = crashFleet().filter((_, index) => index % 4 === 0);
    context.after(() => trackers.forEach((tracker) => void tracker.drop()));
    const names = trackers.map(({ device }) => device);
    await register(service, names);
    const moving = await fill(service, names[0] ?? "");
    for (const tracker of trackers) tracker.run(service.devicePort);
    await until(() => trackers.every(({ acked }) => acked > 40));
    for (const tracker of trackers) tracker.drop();
    // Late reports would raise more alerts while the answers are compared.
    await call(service, "PATCH", moving, [{ op: "replace", path: "/enabled", value: false }]);
    // Who asks where a device is has all folded that came of it: from then on what is late is known to wait.
    for (const name of names) await call(service, "GET", `/api/devices/${name}/lastLocation`);
    // What late reports change in totals is known by then.
    await until(async () => /^waybeam_follow_devices_behind 0$/m.test(await service.metrics()));
    assert.equal(await service.stop(), 0);
    await addOddRows(directory);
    const running = await startService(directory);
    const before = await answersOf(running);
    assert.equal(await running.stop(), 0);
    context.diagnostic(`${before.size} answers, ${JSON.stringify([...before]).length} characters`);

    const url = await server.database();
    const { waybeam } = commandLine(directory);
    const move = async (...args: string[]) => {
      const { code, err } = await waybeam(["move-store", ...args]);
      assert.equal(code, 0, err);
    };
    await move("--to", url);
    const unused = join(folderOf(context), "unused");
    await move("--from", url, "--to", unused);
    assertSame(directory, unused);
    const onPostgres = await startService(directory, { WAYBEAM_STORE_URL: url });
    context.after(() => onPostgres.kill());
    assertAnswers(await answersOf(onPostgres), before);
    await register(onPostgres, ["new-on-PostgreSQL"]);
    const then = await answersOf(onPostgres);
    assert.equal(await onPostgres.stop(), 0);

    const back = join(folderOf(context), "back");
    await move("--from", url, "--to", back);
    assert.equal(readFileSync(join(back, "secret.key"), "utf8"), readFileSync(join(directory, "secret.key"), "utf8"));
    const last = await startService(back);
    context.after(() => last.kill());
    assertAnswers(await answersOf(last), then);
    await register(last, ["new-in-the-folder"]);
    assert.equal(await last.stop(), 0);
    const read = await commandLine(back).waybeam(["check"]);
    assert.equal(read.code, 0, read.out + read.err);
  });
});
