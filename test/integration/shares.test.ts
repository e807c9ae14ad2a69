import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Fix } from "../../src/model/effects.ts";
import { EventStream } from "../support/event-stream.ts";
import { endRest, type Rest, startRest } from "../support/rest.ts";

const fix = (index: number): Fix => ({
  type: "fix",
  time: Date.UTC(2026, 0, 1) + index * 1000,
  valid: true,
  latitude: 4.7 + index / 1000,
  longitude: -74,
  speed: 40,
  course: 181,
  alarms: [],
  readings: { driverName: "Ana", iccid: "8957" },
  attributes: {},
});

let rest: Rest;
let token: string;
let url: string;
const hour = 3_600_000;
const ends = (inMs = hour) => new Date(rest.clock.now() + inMs).toISOString();

before(async () => {
  rest = await startRest({ limits: { requestsPerMinute: 100_000, badTokensPerMinute: 12 } });
  token = await rest.ownerToken();
  for (const id of ["van", "car", "bus"])
    await rest.call("POST", "/api/devices", { token, body: { id, name: `The <${id}>` } });
  await rest.report("van", fix(0));
  url = `http://127.0.0.1:${(await rest.http.start()).port}`;
});
after(() => endRest(rest));

async function made(body: object, as = token) {
  const { status, json } = await rest.call("POST", "/api/shares", { token: as, body });
  assert.equal(status, 201, JSON.stringify(json));
  return json;
}
const seenBy = (link: string) => rest.call("GET", "/api/shared", { token: link });
const end = (id: string) => rest.call("DELETE", `/api/shares/${id}`, { token });

test("a link shows the name and the place of its device, and nothing else", async () => {
  const { share, token: link, path } = await made({ deviceId: "van", expires: ends(), name: "Delivery" });
  assert.match(link, /^wbs_[\w-]{43}$/);
  assert.equal(path, `/s#${link}`);
  const { json, body } = await seenBy(link);
  const [{ key }] = json.devices;
  assert.deepEqual(json, {
    success: true,
    error: null,
    name: "Delivery",
    expires: share.expires,
    devices: [
      {
        key,
        name: "The <van>",
        location: { dateTime: "2026-01-01T00:00:00.000Z", latitude: 4.7, longitude: -74, speed: 40, course: 181 },
      },
    ],
  });
  assert.doesNotMatch(body, /"van"|Ana|8957|apiUsage/);
  for (const [method, other] of [
    ["GET", "/api/devices"],
    ["GET", "/api/devices/van/lastLocation"],
    ["GET", "/api/stream"],
    ["POST", "/api/shares"],
  ] as const)
    assert.equal((await rest.call(method, other, { token: link, from: "203.0.113.77" })).status, 401, other);
  const { shares } = (await rest.call("GET", "/api/shares", { token })).json;
  assert.deepEqual(shares, [share]);
  assert.deepEqual([share.deviceId, share.groupId, share.user], ["van", null, "Owner@Example.com"]);
  assert.equal(JSON.stringify(shares).includes(link), false);
  await end(share.id);
});

test("the stream tells the same as it happens, and ends with the link", async () => {
  const { share, token: link } = await made({ deviceId: "van", expires: ends() });
  const stream = await EventStream.open({ url, path: "/api/shared/stream", token: link });
  const first = await stream.next("location");
  assert.equal(first.data.name, "The <van>");
  await stream.next("live");
  await rest.report("car", fix(1));
  await rest.report("van", fix(2));
  const { key, location } = (await stream.next("location")).data;
  assert.deepEqual([key, location.latitude], [first.data.key, 4.702]);
  assert.doesNotMatch(JSON.stringify(stream.events), /"van"|Ana|8957|status/);
  await end(share.id);
  assert.deepEqual((await stream.next("end")).data, { error: "link not valid" });
  await stream.ended;
});

test("a link to a group shows its devices as they are now", async () => {
  const { id } = (await rest.call("POST", "/api/groups", { token, body: { name: "Two", devices: ["van"] } })).json;
  const { token: link } = await made({ groupId: id, expires: ends() });
  const names = async () => (await seenBy(link)).json.devices.map(({ name }: { name: string }) => name);
  assert.deepEqual(await names(), ["The <van>"]);
  await rest.call("PUT", `/api/groups/${id}`, { token, body: { name: "Two", devices: ["car", "bus", "none"] } });
  assert.deepEqual((await names()).toSorted(), ["The <bus>", "The <car>"]);
  const stream = await EventStream.open({ url, path: "/api/shared/stream", token: link });
  await stream.next("live");
  await rest.call("DELETE", `/api/groups/${id}`, { token });
  assert.equal((await seenBy(link)).status, 404);
  assert.deepEqual((await stream.next("end")).data, { error: "link not valid" });
  assert.deepEqual((await rest.call("GET", "/api/shares", { token })).json.shares, []);
});

test("one shares what one sees, and the link ends with that, with its maker and with the device", async () => {
  const maker = await rest.userToken({ email: "maker@example.com", deviceId: "car" });
  const { json } = await rest.call("POST", "/api/shares", { token: maker, body: { deviceId: "van", expires: ends() } });
  assert.equal(json.error, "device not found");
  const { token: link, share } = await made({ deviceId: "car", expires: ends() }, maker);
  const user = await rest.store.users.findByEmail("maker@example.com");
  const change = (path: string, value: unknown) =>
    rest.call("PATCH", `/api/users/${user?.id}`, { token, body: [{ op: "add", path, value }] });
  const codes: number[] = [];
  const look = async () => codes.push((await seenBy(link)).status);
  await look();
  await change("/deviceId", "bus");
  await look();
  await change("/deviceId", "car");
  await look();
  await change("/disabled", true);
  await look();
  await change("/disabled", false);
  await look();
  assert.deepEqual(codes, [200, 404, 200, 404, 200]);
  // The maker sees its own, an admin all of the account.
  const listed = async (as: string) => (await rest.call("GET", "/api/shares", { token: as })).json.shares;
  assert.deepEqual(await listed(maker), [share]);
  assert.ok((await listed(token)).some(({ id }: { id: string }) => id === share.id));
  const other = await made({ deviceId: "bus", expires: ends() });
  assert.equal((await rest.call("DELETE", `/api/shares/${other.share.id}`, { token: maker })).status, 404);
  await rest.call("DELETE", "/api/devices/car", { token });
  await rest.call("POST", "/api/devices", { token, body: { id: "car" } });
  assert.equal((await seenBy(link)).status, 404);
  const last = await made({ deviceId: "car", expires: ends() }, maker);
  await rest.call("DELETE", `/api/users/${user?.id}`, { token });
  assert.equal((await seenBy(last.token)).status, 404);
  const left = (await listed(token)).filter(({ deviceId }: { deviceId: string }) => deviceId !== "van");
  assert.deepEqual(left, [other.share]);
});

test("the stream of a link ends when its maker sees no longer what it shows, and does not begin then", async () => {
  const { id } = (await rest.call("POST", "/api/groups", { token, body: { name: "Three", devices: ["van"] } })).json;
  const maker = await rest.userToken({ email: "seer@example.com", deviceId: "van", group: id });
  const user = await rest.store.users.findByEmail("seer@example.com");
  const links = [
    await made({ deviceId: "van", expires: ends() }, maker),
    await made({ groupId: id, expires: ends() }, maker),
  ];
  const streams = links.map((link) => EventStream.open({ url, path: "/api/shared/stream", token: link.token }));
  for (const stream of streams) await (await stream).next("live");
  const body = ["/deviceId", "/group"].map((path) => ({ op: "remove", path }));
  await rest.call("PATCH", `/api/users/${user?.id}`, { token, body });
  for (const stream of streams) assert.deepEqual((await (await stream).next("end")).data, { error: "link not valid" });
  for (const link of links)
    assert.equal((await rest.call("GET", "/api/shared/stream", { token: link.token })).status, 404);
  for (const { share } of links) await end(share.id);
  await rest.call("DELETE", `/api/groups/${id}`, { token });
});

test("a wrong request is answered with what is wrong", async () => {
  for (const [body, detail] of [
    [{ expires: ends() }, "body: needs either deviceId or groupId"],
    [{ expires: ends(), deviceId: "van", groupId: "x" }, "body: needs either deviceId or groupId"],
    [{ deviceId: "van" }, "body/expires: is required"],
    [{ deviceId: "van", expires: ends(1), name: " \r\n" }, "body/name: must not be blank"],
    [{ groupId: "nothing", expires: ends(1), name: " " }, "body/name: must not be blank"],
    [{ deviceId: "van", expires: ends(-1) }, "body/expires: must be in the future, at most 366 days ahead"],
    [
      { deviceId: "van", expires: ends(367 * 24 * hour) },
      "body/expires: must be in the future, at most 366 days ahead",
    ],
  ] as const) {
    const { status, json } = await rest.call("POST", "/api/shares", { token, body });
    assert.deepEqual([status, json.details], [400, [detail]]);
  }
  const { json } = await rest.call("POST", "/api/shares", { token, body: { groupId: "x", expires: ends() } });
  assert.equal(json.error, "group not found");
});

test("ended, over and guessed: one answer, and guesses are throttled while good links go on", async () => {
  const good = await made({ deviceId: "van", expires: ends(3 * hour) });
  const over = await made({ deviceId: "van", expires: ends(hour / 2) });
  const ended = await made({ deviceId: "van", expires: ends() });
  await end(ended.share.id);
  rest.clock.pass(hour);
  const answers = [];
  for (const link of [over.token, ended.token, `wbs_${"A".repeat(43)}`, "x", token]) answers.push(await seenBy(link));
  assert.deepEqual(
    new Set(answers.map(({ status, body }) => `${status} ${body}`)),
    new Set(['404 {"success":false,"error":"link not valid"}']),
  );
  let status = 404;
  for (let guess = 0; guess < 20 && status === 404; guess++) status = (await seenBy(`wbs_${"B".repeat(43)}`)).status;
  assert.equal(status, 429);
  assert.equal((await seenBy(good.token)).status, 200);
});
