import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { endRest, operatorKey, type Rest, startRest } from "../support/rest.ts";

let rest: Rest;
let token: string;
let viewer: string;
before(async () => {
  rest = await startRest({ limits: { requestsPerMinute: 1_000_000, tokenRequestsPerMinute: 10_000 } });
  token = await rest.ownerToken();
  for (let index = 0; index < 15; index++) await post("/api/devices", { id: `d${String(index).padStart(2, "0")}` });
  for (let index = 0; index < 7; index++)
    await post("/api/groups", { name: `Group ${index}`, devices: [`d0${index}`] });
  await post("/api/groups", {
    name: "Fleet",
    devices: ["d14", "d03", "d11", "nobody's", "d00", "d05", "d06", "d07", "d08", "d09"],
  });
  await post("/api/groups", { name: "Fleet", devices: ["d01"] });
  viewer = await rest.userToken({ group: "Fleet" });
  for (let index = 0; index < 6; index++) await rest.userToken({});
  for (let index = 0; index < 7; index++) {
    await post("/api/geofences", {
      name: `Zone ${index}`,
      geometry: { type: "Point", coordinates: [0, 0], radius: 1 },
    });
    const devices = index % 3 === 0 ? ["d00"] : ["d02"];
    await post("/api/alertRules", { name: `Rule ${index}`, type: "sos", devices });
    await post("/api/devices/d00/sendCommand", { command: `text ${index}` });
    await post("/api/shares", { deviceId: "d00", expires: new Date(rest.clock.now() + 3_600_000).toISOString() });
  }
});
after(() => endRest(rest));

async function post(url: string, body: object): Promise<void> {
  const { status, body: text } = await rest.call("POST", url, { token, body });
  assert.ok(status < 300, `${url}: ${text}`);
}

const get = (url: string, as = token) => rest.call("GET", url, { token: as });

/** All entries of a list, by pages of one size. */
async function paged(url: string, name: string, limit: number, as = token, between = async () => {}) {
  const all: { id: string }[] = [];
  for (let cursor = ""; ; ) {
    const { status, json } = await get(`${url}?limit=${limit}${cursor}`, as);
    assert.equal(status, 200);
    assert.ok(json[name].length <= limit && (json[name].length > 0 || json.nextCursor === undefined));
    all.push(...json[name]);
    if (json.nextCursor === undefined) return all;
    cursor = `&cursor=${json.nextCursor}`;
    await between();
  }
}

const lists = [
  ["/api/devices", "devices"],
  ["/api/groups", "groups"],
  ["/api/users", "users"],
  ["/api/geofences", "geofences"],
  ["/api/alertRules", "rules"],
  ["/api/devices/d00/alertRules", "rules"],
  ["/api/devices/d00/commands", "commands"],
  ["/api/devices/d00/notifications", "notifications"],
  ["/api/shares", "shares"],
] as const;

describe("lists", () => {
  for (const [url, name] of lists)
    test(`${url}: pages of any size have what the whole has, for who sees all and for who sees some`, async () => {
      for (const as of [token, viewer]) {
        const { json } = await get(url, as);
        assert.equal(json.nextCursor, undefined);
        for (const limit of [1, 2, 3, 10_000]) assert.deepEqual(await paged(url, name, limit, as), json[name]);
      }
    });

  test("a viewer's pages hold what it sees and nothing else", async () => {
    const ids = (await paged("/api/devices", "devices", 2, viewer)).map(({ id }) => id);
    assert.deepEqual(ids, ["d00", "d01", "d03", "d05", "d06", "d07", "d08", "d09", "d11", "d14"]);
    assert.equal((await paged("/api/groups", "groups", 1, viewer)).length, 2);
    assert.equal((await paged("/api/users", "users", 1, viewer)).length, 1);
    assert.equal((await paged("/api/alertRules", "rules", 1, viewer)).length, 3);
  });

  test("changes between two pages miss and double nothing that stayed", async () => {
    let turn = 0;
    const found = await paged("/api/groups", "groups", 2, token, async () => {
      await post("/api/groups", { name: `Between ${turn++}` });
      const { json } = await get("/api/groups");
      const own = json.groups.filter(({ name }: { name: string }) => name.startsWith("Between"));
      if (turn === 2) await rest.call("DELETE", `/api/groups/${own[0].id}`, { token });
      if (turn > 5) turn = 5;
      if (own.length > 3) for (const { id } of own) await rest.call("DELETE", `/api/groups/${id}`, { token });
    });
    const ids = found.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    const { json } = await get("/api/groups");
    for (const { id, name } of json.groups)
      if (!name.startsWith("Between")) assert.ok(ids.includes(id), `${name} was missed`);
  });

  test("a cursor of another list, of another account, or damaged is a bad request", async () => {
    const { json } = await get("/api/groups?limit=1");
    const cursor: string = json.nextCursor;
    const foreign = await rest.userToken({
      privileges: ["admin"],
      accountKey: (
        await rest.store.accounts.create(
          { id: "other", name: "Other", timeZone: "Etc/UTC", licenses: 1, language: "en" },
          0,
        )
      ).key,
    });
    assert.equal((await get(`/api/groups?cursor=${cursor}`)).status, 200);
    assert.equal((await get(`/api/groups?cursor=${cursor}`, foreign)).status, 400);
    for (const [url] of lists.filter(([each]) => each !== "/api/groups"))
      assert.equal((await get(`${url}?cursor=${cursor}`)).status, 400, url);
    for (const text of [`${cursor}A`, cursor.slice(1), cursor.toLowerCase(), "x", "", "%00", "a".repeat(300)])
      assert.equal((await get(`/api/groups?cursor=${text}`)).status, 400, text);
    for (const limit of ["0", "-1", "10001", "1.5", "", "all"])
      assert.equal((await get(`/api/groups?limit=${limit}`)).status, 400, limit);
  });

  test("the operator's list of accounts comes in pages", async () => {
    const { json } = await get("/api/admin/accounts", operatorKey);
    assert.ok(json.accounts.length >= 1);
    assert.deepEqual(await paged("/api/admin/accounts", "accounts", 1, operatorKey), json.accounts);
  });

  test("large entries make short pages, and a whole list of them is complete", async () => {
    const devices = Array.from({ length: 12_000 }, (_, index) => `device-${"x".repeat(50)}-${index}`);
    for (let index = 0; index < 4; index++) await post("/api/groups", { name: `Large ${index}`, devices });
    const { json } = await get("/api/groups?limit=10000");
    assert.ok(json.nextCursor !== undefined);
    const whole = await get("/api/groups");
    assert.deepEqual(await paged("/api/groups", "groups", 10_000), whole.json.groups);
    assert.equal(whole.json.groups.filter(({ name }: { name: string }) => name.startsWith("Large")).length, 4);
  });
});
