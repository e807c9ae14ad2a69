import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import type { Fix } from "../../src/model/effects.ts";
import type { Dispatcher } from "../../src/ports/dispatcher.ts";
import { commitAlerts, newAlert } from "../contract/store/alert-values.ts";
import { EventStream, type StreamAsk, type StreamEvent } from "../support/event-stream.ts";
import { until } from "../support/gateway.ts";
import { openApiCheck } from "../support/openapi.ts";
import { endRest, type Rest, startRest } from "../support/rest.ts";
import { passwordHash, signIn } from "../support/sessions.ts";

/** Devices answer every command at once. */
const dispatcher: Dispatcher = {
  async dispatch(_device, _outgoing, _wait, beforeWrite) {
    return (await beforeWrite()) ? { outcome: "answered", text: "done", ok: true } : { outcome: "withheld" };
  },
  onReachable: () => {},
  where: () => "nowhere" as const,
  onElsewhere: () => {},
};

let rest: Rest;
let url: string;
let owner: string;
let streams: EventStream[] = [];
let check: ReturnType<typeof openApiCheck>;

async function start(limits = {}): Promise<void> {
  rest = await startRest({
    limits: { requestsPerMinute: 100_000, tokenRequestsPerMinute: 10_000, ...limits },
    dispatcher,
  });
  const { port } = await rest.http.start();
  url = `http://127.0.0.1:${port}`;
  owner = await rest.ownerToken();
  check = openApiCheck(rest.http.openApi());
  for (const id of ["a", "b", "c"]) await done("POST", "/api/devices", { id });
}

async function done(method: string, path: string, body?: unknown) {
  const answer = await rest.call(method, path, { token: owner, body });
  assert.ok(answer.status < 300, answer.body);
  return answer.json;
}

/** A position of now; `speed` tells them apart: nothing moves far in a moment. */
function fix(speed: number, latitude = 4.7, longitude = -74): Fix {
  const time = rest.clock.now();
  return { type: "fix", time, valid: true, latitude, longitude, speed, alarms: [], readings: {}, attributes: {} };
}

async function open(ask: Partial<StreamAsk> = {}): Promise<EventStream> {
  const stream = await EventStream.open({
    ...{ url, token: owner, check: (answer) => check("GET", "/api/stream", answer) },
    ...ask,
  });
  streams.push(stream);
  return stream;
}

/** What was told of which devices. */
function told(events: readonly StreamEvent[]): string[] {
  return events.map(({ event, data }) => (data.deviceId === undefined ? event : `${event} ${data.deviceId}`));
}

/** The same of the present, whose devices come in the order in which they changed. */
async function presentOf(stream: EventStream): Promise<string[]> {
  const events = told(await stream.upTo("live"));
  assert.equal(events.pop(), "live");
  return events.toSorted();
}

const present = ["location a", "location b", "location c"];

describe("the live stream", () => {
  before(() => start());
  after(() => endRest(rest));
  afterEach(() => {
    for (const stream of streams) stream.close();
    streams = [];
  });

  test("begins with the present, then tells what happens, as lastLocation does", async () => {
    const stream = await open();
    const begin = await stream.upTo("live");
    assert.deepEqual(told(begin), [...present, "live"]);
    await rest.report("a", fix(1));
    const lastLocation = async () => (await done("GET", "/api/devices/a/lastLocation")).lastLocation;
    assert.deepEqual(begin[0]?.data, {
      deviceId: "a",
      location: null,
      status: { connected: false, lastContact: null },
    });
    const next = await stream.next("location");
    assert.deepEqual(next.data.location, await lastLocation());
    assert.equal(next.data.location.speed, 1);
    assert.equal(next.data.status.lastContact?.slice(0, 10), next.data.location.dateTime.slice(0, 10));
  });

  test("only what the filters name; what the user does not see is not found", async () => {
    const { id: group } = await done("POST", "/api/groups", { name: "g", devices: ["b", "c", "unknown"] });
    const presentWith = async (query: Record<string, string>) => presentOf(await open({ query }));
    assert.deepEqual(await presentWith({ device: "c,a" }), ["location a", "location c"]);
    assert.deepEqual(await presentWith({ group }), ["location b", "location c"]);
    assert.deepEqual(await presentWith({ group, device: "a,b" }), ["location b"]);
    assert.deepEqual(await presentWith({ kind: "status,alert" }), ["status a", "status b", "status c"]);
    assert.deepEqual(await presentWith({ kind: "alert" }), []);
    await rest.report("b", fix(0));
    await rest.report("c", fix(0, 4.7, 179.5));
    assert.deepEqual(await presentWith({ device: "b,c", box: "-75,4,-73,5" }), ["location b"]);
    assert.deepEqual(await presentWith({ device: "b,c", box: "179,4,-73,5" }), ["location b", "location c"]);
    for (const [query, status] of [
      [{ device: "unknown" }, 404],
      [{ group: "unknown" }, 404],
      [{ kind: "positions" }, 400],
      [{ box: "1,2,3" }, 400],
      [{ box: "1,3,2,2" }, 400],
      [{ box: "-181,2,3,4" }, 400],
      [{ box: "1,2,3,91" }, 400],
    ] as const) {
      const answer = await rest.call("GET", `/api/stream?${new URLSearchParams(query)}`, { token: owner });
      assert.equal(answer.status, status, JSON.stringify(query));
    }
    assert.equal((await rest.call("HEAD", "/api/stream", { token: owner })).status, 404);
  });

  test("goes on where the client was: by header, by query, without a gap", async () => {
    const first = await open();
    await first.upTo("live");
    first.close();
    for (const speed of [1, 2, 3]) await rest.report("b", fix(speed));
    await rest.report("a", fix(4));
    await done("POST", "/api/devices/c/sendCommand", { command: "x" });
    const second = await open({ headers: { "last-event-id": first.lastId } });
    const missed = await second.upTo("live");
    assert.deepEqual(told(missed), ["location b", "location a", "command c", "live"]);
    assert.equal(missed[0]?.data.location.speed, 3);
    assert.equal(missed[2]?.data.command.state, "delivered");
    const third = await open({ query: { lastEventId: second.lastId } });
    assert.deepEqual(told(await third.upTo("live")), ["live"]);
    // The header is a browser's own, which knows more than the address of the stream.
    const fourth = await open({ query: { lastEventId: "old" }, headers: { "last-event-id": second.lastId } });
    assert.deepEqual(told(await fourth.upTo("live")), ["live"]);
  });

  test("an id that is not known any more: it says so and begins with the present", async () => {
    for (const lastEventId of ["", "x", "AAAAAAAA-7", "AAAAAAAA-1e3"]) {
      const stream = await open({ headers: { "last-event-id": lastEventId } });
      assert.deepEqual(
        (await stream.upTo("reset")).map(({ data }) => data),
        [{ reason: "unknownId" }],
      );
      assert.deepEqual(await presentOf(stream), present);
    }
    const before = await open();
    await before.upTo("live");
    await done("POST", "/api/groups", { name: "another" });
    const stream = await open({ headers: { "last-event-id": before.lastId } });
    assert.deepEqual((await stream.next("reset")).data, { reason: "visibility" });
    assert.deepEqual(await presentOf(stream), present);
  });

  test("what changes of users of another account, or of sessions, is no change of rights", async () => {
    const first = await open();
    await first.next("live");
    await rest.report("a", fix(1));
    const { id } = await first.next("location");
    first.close();
    const account = await rest.store.accounts.create(
      { id: "another", name: "Another", timeZone: "Etc/UTC", licenses: 5, language: "en" },
      rest.clock.now(),
    );
    const [email, password] = ["theirs@example.com", "correct horse battery"];
    const token = await rest.userToken({ accountKey: account.key, privileges: ["admin"] });
    const passwordHashOf = await passwordHash(password);
    await rest.userToken({ email, passwordHash: passwordHashOf, passwordSignsIn: true });
    const { users } = (await rest.call("GET", "/api/users", { token })).json;
    const body = [{ op: "replace", path: "/name", value: "Another name" }];
    assert.equal((await rest.call("PATCH", `/api/users/${users[0].id}`, { token, body })).status, 200);
    await rest.call("DELETE", "/api/session", { headers: await signIn(rest, email, password) });
    const again = await open({ headers: { "last-event-id": id ?? "" } });
    assert.deepEqual(told(await again.upTo("live")), ["live"]);
  });

  test("tells alerts as they are found, acknowledged and ended", async () => {
    const stream = await open({ query: { kind: "alert" } });
    await stream.next("live");
    const device = await rest.store.devices.find("a");
    assert.ok(device);
    const alert = newAlert(device.key, 1);
    await commitAlerts(rest.store, device.key, [alert]);
    rest.bus.publish({ type: "committed", devices: [{ device, plan: { alerts: [alert] } }] });
    const found = await stream.next("alert");
    assert.deepEqual([found.data.deviceId, found.data.id, found.data.state], ["a", alert.id, "open"]);
    await done("POST", "/api/alerts/acknowledge", { ids: [alert.id], note: "mine" });
    const { alerts } = await done("GET", "/api/alerts");
    assert.deepEqual((await stream.next("alert")).data, alerts[0]);
    assert.equal(alerts[0].acknowledgement.note, "mine");
    const end = { ruleKey: alert.ruleKey, time: alert.time + 60_000, foundAt: alert.time + 61_000 };
    const [head] = await rest.store.follow.heads([device.key]);
    assert.ok(head);
    await rest.store.follow.commit([{ device: device.key, head, days: [], ended: [end] }]);
    rest.bus.publish({ type: "committed", devices: [{ device, plan: { ended: [end] } }] });
    const ended = await stream.next("alert");
    assert.deepEqual([ended.data.id, ended.data.state], [alert.id, "closed"]);
    assert.equal(ended.data.endedAt, new Date(end.time).toISOString());
  });

  test("tells each step of a command, as the list of commands has it", async () => {
    const stream = await open({ query: { kind: "command" } });
    await stream.next("live");
    await done("POST", "/api/devices/a/sendCommand", { command: "RELAY,1#" });
    for (;;) {
      const { data } = await stream.next("command");
      assert.deepEqual([data.deviceId, data.command.command], ["a", "RELAY,1#"]);
      if (data.command.state !== "delivered") continue;
      const { commands } = await done("GET", "/api/devices/a/commands");
      assert.deepEqual(data.command, commands[0]);
      break;
    }
  });

  test("tells of devices that come, go and change their id", async () => {
    const stream = await open();
    await stream.next("live");
    await done("POST", "/api/devices", { id: "new" });
    assert.deepEqual(told(await stream.upTo("location")), ["location new"]);
    await done("POST", "/api/devices/new/changeId", { id: "newer" });
    assert.deepEqual(told(await stream.upTo("location")).toSorted(), ["gone new", "location newer"]);
    await done("DELETE", "/api/devices/newer");
    assert.deepEqual(told(await stream.upTo("gone")), ["gone newer"]);
    await done("POST", "/api/devices", { id: "newer" });
    assert.deepEqual(told(await stream.upTo("location")), ["location newer"]);
    await done("DELETE", "/api/devices/newer");
  });

  test("says that it is there every 15 s, with its place", async () => {
    const stream = await open();
    await stream.next("live");
    rest.clock.pass(15_000);
    await until(() => stream.comments.length > 0);
    assert.match(stream.comments[0] ?? "", /^: \nid: \S+$/);
  });

  describe("ends what a right allowed with the right", () => {
    let group: string;
    let token: string;
    let userPath: string;
    let made = 0;

    beforeEach(async () => {
      const email = `user${++made}@example.com`;
      const name = `fleet ${made}`;
      group = `/api/groups/${(await done("POST", "/api/groups", { name, devices: ["a", "b"] })).id}`;
      token = await rest.userToken({ email, group: name });
      userPath = `/api/users/${(await rest.store.users.findByEmail(email))?.id}`;
    });

    test("a device that leaves the group, and one that joins it", async () => {
      const stream = await open({ token });
      assert.deepEqual(await presentOf(stream), ["location a", "location b"]);
      await done("PATCH", group, [{ op: "replace", path: "/devices", value: ["b", "c"] }]);
      // What is told from here on is b's and c's, whatever a does.
      for (const id of ["a", "b", "c"]) await rest.report(id, fix(7));
      assert.deepEqual((await stream.next("reset")).data, { reason: "visibility" });
      await stream.next("live");
      await rest.report("a", fix(8));
      await rest.report("c", fix(9));
      while ((await stream.next("location")).data.location?.speed !== 9);
      const reset = stream.events.findIndex(({ event }) => event === "reset");
      assert.equal(
        stream.events.slice(reset).some(({ data }) => data.deviceId === "a"),
        false,
      );
    });

    test("a change that is none to the user is not told", async () => {
      const stream = await open({ token });
      await stream.next("live");
      await done("PATCH", group, [{ op: "replace", path: "/description", value: "ours" }]);
      await done("PATCH", userPath, [{ op: "replace", path: "/name", value: "Ana" }]);
      await rest.report("a", fix(1));
      assert.deepEqual(told(await stream.upTo("location")), ["location a"]);
    });

    test("a person signs out: the stream of that session ends, and no other one", async () => {
      const [email, password] = ["person@example.com", "correct horse battery"];
      const name = `fleet ${made}`;
      await rest.userToken({
        ...{ email, group: name },
        passwordHash: await passwordHash(password),
        passwordSignsIn: true,
      });
      const [here, there] = [await signIn(rest, email, password), await signIn(rest, email, password)];
      const streams = [
        await open({ token: undefined, headers: here }),
        await open({ token: undefined, headers: there }),
      ];
      for (const stream of streams) assert.deepEqual(await presentOf(stream), ["location a", "location b"]);
      assert.equal((await rest.call("DELETE", "/api/session", { headers: here })).status, 200);
      await streams[0]?.next("end");
      await rest.report("a", fix(1));
      assert.deepEqual(told((await streams[1]?.upTo("location")) ?? []), ["location a"]);
    });

    const ends: Readonly<Record<string, () => Promise<unknown>>> = {
      "the user is deleted": () => done("DELETE", userPath),
      "its key is deleted": () => done("DELETE", `${userPath}/apiKey`),
      "it is disabled": () => done("PATCH", userPath, [{ op: "replace", path: "/disabled", value: true }]),
      "its token ends": async () => rest.clock.pass(86_400_000),
    };
    for (const [name, befall] of Object.entries(ends))
      test(name, async () => {
        const stream = await open({ token });
        await stream.next("live");
        await befall();
        const { data } = await stream.next("end");
        const refused = await rest.call("GET", "/api/devices", { token });
        assert.equal(data.error, refused.json.error);
        await stream.ended;
        owner = await rest.ownerToken();
      });
  });
});

describe("streams have limits", () => {
  const refused = async (token: string) => {
    const { status, json } = await rest.call("GET", "/api/stream", { token });
    return [status, json.details];
  };

  test("of a user, of an account and of all; a place is free again when a stream has closed", async (context) => {
    await start({ streams: { perUser: 1, perAccount: 2, inAll: 3 } });
    context.after(() => endRest(rest));
    const account = await rest.store.accounts.create(
      { id: "other", name: "Other", timeZone: "Etc/UTC", licenses: 5, language: "en" },
      rest.clock.now(),
    );
    const one = await open();
    assert.deepEqual(await refused(owner), [429, ["1 streams of the user are open"]]);
    await open({ token: await rest.userToken({}) });
    assert.deepEqual(await refused(await rest.userToken({})), [429, ["2 streams of the account are open"]]);
    await open({ token: await rest.userToken({ accountKey: account.key }) });
    const another = await rest.userToken({ accountKey: account.key });
    assert.deepEqual(await refused(another), [503, ["3 streams are open"]]);
    // Requests are another matter.
    assert.equal((await rest.call("GET", "/api/devices", { token: owner })).status, 200);
    one.close();
    await until(async () => (await rest.call("GET", "/api/stream", { token: owner })).status === 200);
    for (const stream of streams) stream.close();
  });

  test("a service that stops ends them at once", async () => {
    await start();
    const stream = await open();
    await stream.next("live");
    await Promise.all([endRest(rest), stream.ended]);
  });
});
