import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import { endRest, type Rest, startRest } from "../support/rest.ts";

let rest: Rest;
let token: string;

before(async () => {
  rest = await startRest({ limits: { requestsPerMinute: 100_000, tokenRequestsPerMinute: 10_000 } });
  token = await rest.ownerToken();
});
after(() => endRest(rest));

let made = 0;
const body = (fields: object = {}) => ({
  name: "Ana Torres",
  email: `ana.${made++}@example.com`,
  country: "CO",
  timeZone: "America/Bogota",
  ...fields,
});
const everything = {
  name: "Ñandú 🚚",
  country: "Colombia",
  timeZone: "Asia/Kolkata",
  description: "d",
  message: "m",
  disabled: true,
  disabledMessage: "unpaid",
  tags: { plate: "X" },
  privileges: ["read", "own words"],
  group: "Fleet",
  deviceId: "held",
  adminDevices: 3,
  from: "2026-01-01T00:00:00.000Z",
  expires: "2027-01-01T00:00:00.000Z",
};
const unset = {
  description: null,
  message: null,
  disabled: false,
  disabledMessage: null,
  tags: {},
  privileges: [],
  group: null,
  deviceId: null,
  adminDevices: null,
  from: null,
  expires: null,
  password: null,
};

/** A user's own fields of an answer: without the envelope and what the service gives. */
function fieldsOf(json: Record<string, unknown>) {
  const { success, error, apiUsage, apiDailyUsage, warnings, id, creation, modification, lastLogin, ...fields } = json;
  return fields;
}

async function create(fields: object = {}) {
  const answer = await rest.call("POST", "/api/users", { token, body: body(fields) });
  assert.equal(answer.status, 201, answer.body);
  return answer.json;
}

const errorOf = ({ status, json }: { status: number; json: { error: string } }) => [status, json.error];

describe("users", () => {
  test("created, read, listed, replaced, deleted; what is not set is null", async () => {
    const sent = body();
    const answer = await rest.call("POST", "/api/users", { token, body: sent });
    assert.equal(answer.status, 201);
    const { id, creation, modification, lastLogin } = answer.json;
    assert.equal(answer.headers.location, `/api/users/${id}`);
    assert.deepEqual(fieldsOf(answer.json), { ...sent, ...unset });
    assert.deepEqual([modification, lastLogin], [creation, null]);

    const full = { ...everything, email: sent.email };
    rest.clock.pass(1000);
    const replaced = await rest.call("PUT", `/API/Users/${id}`, { token, body: full });
    assert.equal(replaced.status, 200);
    assert.deepEqual(fieldsOf(replaced.json), { ...full, password: null });
    assert.ok(replaced.json.modification > creation);
    assert.equal(replaced.json.creation, creation);
    assert.equal(replaced.json.warnings.length, 2, "an unknown group and an unknown device");
    assert.deepEqual(fieldsOf((await rest.call("GET", `/api/users/${id}`, { token })).json), fieldsOf(replaced.json));
    const { users } = (await rest.call("GET", "/api/users", { token })).json;
    assert.equal(users[0].email, "Owner@Example.com");
    assert.equal(users.find((user: { id: string }) => user.id === id).country, "Colombia");

    const reset = await rest.call("PUT", `/api/users/${id}`, { token, body: sent });
    assert.deepEqual(fieldsOf(reset.json), { ...sent, ...unset });
    assert.equal((await rest.call("DELETE", `/api/users/${id}`, { token })).status, 200);
    for (const method of ["GET", "PUT", "PATCH", "DELETE"])
      assert.deepEqual(
        errorOf(await rest.call(method, `/api/users/${id}`, { token, body: method === "PATCH" ? [] : sent })),
        [404, "user not found"],
      );
  });

  test("an answer can be sent back as it is; other fields are warned of", async () => {
    const user = await create(everything);
    const again = await rest.call("PUT", `/api/users/${user.id}`, { token, body: user });
    assert.deepEqual(fieldsOf(again.json), fieldsOf(user));
    assert.equal(again.json.id, user.id);
    assert.equal(again.json.warnings.length, 2);
    const odd = await rest.call("POST", "/api/users", {
      token,
      body: body({ nickname: "A", id: "mine", lastLogin: 5 }),
    });
    assert.notEqual(odd.json.id, "mine");
    assert.deepEqual(odd.json.warnings, ["body/nickname: not a field that can be set; ignored"]);
  });

  test("empty lists and maps stay what they are", async () => {
    const user = await create({ tags: {}, privileges: [] });
    assert.deepEqual([user.tags, user.privileges], [{}, []]);
  });

  test("what is wrong has its code and text, and changes nothing", async () => {
    const user = await create(everything);
    const cases: [object, string][] = [
      ...["", "plain", "@example.com", "a@", "a b@example.com", "a@b", "a@b..c", ".a@example.com", "a@-b.com"].map(
        (email): [object, string] => [{ email }, "invalid e-mail address"],
      ),
      [{ email: `${"x".repeat(300)}@example.com` }, "invalid e-mail address"],
      [{ name: "" }, "invalid input"],
      [{ name: " " }, "invalid input"],
      [{ name: undefined }, "invalid input"],
      [{ email: undefined }, "invalid input"],
      [{ country: undefined }, "invalid input"],
      [{ timeZone: undefined }, "invalid input"],
      [{ name: "x".repeat(257) }, "invalid input"],
      [{ country: "XX" }, "invalid input"],
      [{ country: "Atlantis" }, "invalid input"],
      [{ country: "__proto__" }, "invalid input"],
      [{ timeZone: "Bogota" }, "invalid input"],
      [{ timeZone: "UTC" }, "invalid input"],
      [{ timeZone: "America/Nowhere" }, "invalid input"],
      [{ timeZone: "+05:00" }, "invalid input"],
      [{ disabled: "yes" }, "invalid input"],
      [{ tags: { a: 1 } }, "invalid input"],
      [{ tags: [] }, "invalid input"],
      [{ privileges: "admin" }, "invalid input"],
      [{ privileges: [1] }, "invalid input"],
      [{ adminDevices: 1.5 }, "invalid input"],
      [{ adminDevices: -1 }, "invalid input"],
      [{ from: "soon" }, "invalid input"],
      [{ from: "2026-01-02T00:00:00Z", expires: "2026-01-01T00:00:00Z" }, "invalid input"],
      [{ password: 5 }, "invalid input"],
    ];
    for (const [fields, error] of cases) {
      assert.deepEqual(
        errorOf(await rest.call("POST", "/api/users", { token, body: body(fields) })),
        [400, error],
        error,
      );
      const put = { ...fieldsOf(user), ...fields };
      const replaced = await rest.call("PUT", `/api/users/${user.id}`, { token, body: put });
      assert.deepEqual(errorOf(replaced), [400, error], JSON.stringify(fields));
      assert.ok(replaced.json.details.length > 0);
    }
    for (const text of ["", "{", "[]", "null"])
      assert.deepEqual(errorOf(await rest.call("POST", "/api/users", { token, body: text })), [400, "invalid input"]);
    assert.deepEqual(fieldsOf((await rest.call("GET", `/api/users/${user.id}`, { token })).json), fieldsOf(user));
  });

  test("an e-mail address is one user's, service-wide and in any case", async () => {
    const other = await rest.store.accounts.create(
      { id: "o", name: "O", timeZone: "Etc/UTC", licenses: 1, language: "en" },
      0,
    );
    await rest.userToken({ accountKey: other.key, email: "Taken@Example.com" });
    const taken = [409, "e-mail address already in use"];
    assert.deepEqual(
      errorOf(await rest.call("POST", "/api/users", { token, body: body({ email: "taken@example.COM" }) })),
      taken,
    );
    const user = await create();
    const put = await rest.call("PUT", `/api/users/${user.id}`, { token, body: body({ email: "TAKEN@example.com" }) });
    assert.deepEqual(errorOf(put), taken);
    const upper = { ...body(), email: user.email.toUpperCase() };
    assert.equal((await rest.call("PUT", `/api/users/${user.id}`, { token, body: upper })).json.email, upper.email);
    const same = body();
    const codes = await Promise.all(
      Array.from({ length: 10 }, async () => (await rest.call("POST", "/api/users", { token, body: same })).status),
    );
    assert.deepEqual(codes.toSorted(), [201, ...Array(9).fill(409)]);
  });

  test("the owner keeps admin and stays; it can change all else", async () => {
    const [owner] = (await rest.call("GET", "/api/users", { token })).json.users;
    const path = `/api/users/${owner.id}`;
    const refused = [409, "account owner is protected"];
    assert.deepEqual(errorOf(await rest.call("DELETE", path, { token })), refused);
    assert.deepEqual(
      errorOf(await rest.call("PUT", path, { token, body: { ...owner, privileges: ["write"] } })),
      refused,
    );
    assert.deepEqual(
      errorOf(await rest.call("PATCH", path, { token, body: [{ op: "remove", path: "/privileges" }] })),
      refused,
    );
    for (const [field, value] of [
      ["disabled", true],
      ["expires", "2020-01-01T00:00:00Z"],
      ["from", "2099-01-01T00:00:00Z"],
    ])
      assert.deepEqual(
        errorOf(await rest.call("PATCH", path, { token, body: [{ op: "add", path: `/${field}`, value }] })),
        refused,
      );
    const renamed = await rest.call("PATCH", path, { token, body: [{ op: "replace", path: "/name", value: "Boss" }] });
    assert.deepEqual([renamed.status, renamed.json.name, renamed.json.country], [200, "Boss", ""]);
  });

  test("countries and time zones, whole; each of them can be set", async () => {
    const { countries } = (await rest.call("GET", "/api/users/countries", { token })).json;
    assert.equal(Object.keys(countries).length, 249);
    assert.equal(countries.CO, "Colombia");
    const { timeZones } = (await rest.call("GET", "/api/users/TimeZones", { token })).json;
    assert.equal(timeZones["America/Bogota"], "Colombia Standard Time");
    for (const zone of Intl.supportedValuesOf("timeZone")) assert.equal(zone in timeZones, zone.includes("/"), zone);
    // The service's own default, and a name that the runtime lists under an older one.
    for (const timeZone of ["Etc/UTC", "Asia/Kolkata"]) {
      assert.ok(timeZone in timeZones);
      assert.equal((await create({ timeZone })).timeZone, timeZone);
    }
    for (const country of [
      "co",
      "COL",
      "colombia",
      "United States",
      "United States of America",
      "Türkiye",
      "Cote d'Ivoire",
    ])
      assert.equal((await create({ country })).country, country);
  });
});

describe("patches of users", () => {
  test("a tag is added to a user without tags", async () => {
    const { id, tags } = await create();
    const operations = [{ op: "add", path: "/tags/a", value: "b" }];
    const patched = await rest.call("PATCH", `/api/users/${id}`, { token, body: operations });
    assert.deepEqual([tags, patched.status, patched.json.tags], [{}, 200, { a: "b" }]);
    const cleared = await rest.call("PATCH", `/api/users/${id}`, { token, body: [{ op: "remove", path: "/tags" }] });
    assert.deepEqual([cleared.status, cleared.json.tags], [200, {}]);
  });

  test("all or nothing, checked like a PUT, and only what can be set", async () => {
    const user = await create(everything);
    const path = `/api/users/${user.id}`;
    const patch = (...operations: unknown[]) => rest.call("PATCH", path, { token, body: operations });
    const value = "new@example.com";
    const done = await patch(
      { op: "test", path: "/id", value: user.id },
      { op: "replace", path: "/email", value },
      { op: "add", path: "/tags/a~1b", value: "1" },
      { op: "add", path: "/privileges/-", value: "write" },
      { op: "copy", from: "/description", path: "/message" },
      { op: "move", from: "/disabledMessage", path: "/description" },
      { op: "remove", path: "/group" },
    );
    assert.equal(done.status, 200, done.body);
    const expected = { email: value, tags: { plate: "X", "a/b": "1" }, privileges: ["read", "own words", "write"] };
    const moved = { message: "d", description: "unpaid", disabledMessage: null, group: null, password: null };
    assert.deepEqual(fieldsOf(done.json), { ...everything, ...expected, ...moved });
    const bad: [unknown[], number, string][] = [
      [[{ op: "replace", path: "/id", value: "x" }], 400, "invalid patch operation"],
      [[{ op: "replace", path: "/creation", value: null }], 400, "invalid patch operation"],
      [[{ op: "remove", path: "/lastLogin" }], 400, "invalid patch operation"],
      [[{ op: "add", path: "/apiKeyHash", value: "x" }], 400, "invalid patch operation"],
      [[{ op: "replace", path: "/email" }], 400, "invalid patch operation"],
      [[{ op: "jump", path: "/email" }], 400, "invalid patch operation"],
      [[{ op: "replace", path: "", value: {} }], 400, "invalid patch operation"],
      [[{ op: "move", from: "/tags", path: "/tags/a" }], 400, "invalid patch operation"],
      [[{ op: "test", path: "/name", value: "nobody" }], 409, "patch test failed"],
      [[{ op: "remove", path: "/name" }], 400, "invalid input"],
      [[{ op: "replace", path: "/tags", value: "x" }], 400, "invalid input"],
      [[{ op: "replace", path: "/email", value: "x" }], 400, "invalid e-mail address"],
      [[{ op: "replace", path: "/email", value: "owner@example.com" }], 409, "e-mail address already in use"],
    ];
    for (const [operations, status, error] of bad) {
      const answer = await patch({ op: "replace", path: "/name", value: "changed" }, ...operations);
      assert.deepEqual(errorOf(answer), [status, error], JSON.stringify(operations));
    }
    assert.deepEqual(fieldsOf((await rest.call("GET", path, { token })).json), fieldsOf(done.json));
  });

  test("a privilege is added to a user that was stored without any", async () => {
    const { id } = await create();
    const body = [{ op: "add", path: "/privileges/-", value: "read" }];
    assert.deepEqual((await rest.call("PATCH", `/api/users/${id}`, { token, body })).json.privileges, ["read"]);
  });

  test("any fields survive POST, GET, PUT and a patch that replaces them all", async () => {
    const text = fc.string({ unit: "grapheme", maxLength: 40 }).filter((value) => value.isWellFormed());
    const field = fc.option(text);
    const moment = fc
      .date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true })
      .map((date) => date.toISOString());
    const fields = fc.record(
      {
        name: text.filter((value) => value.trim() !== ""),
        country: fc.constantFrom("CO", "COL", "Colombia", "Åland Islands"),
        timeZone: fc.constantFrom("America/Bogota", "Europe/Kyiv"),
        description: field,
        message: field,
        disabled: fc.boolean(),
        disabledMessage: field,
        tags: fc.option(
          fc.dictionary(
            text.filter((name) => name !== "__proto__" && name !== "constructor"),
            text,
            { maxKeys: 5, noNullPrototype: true },
          ),
        ),
        privileges: fc.option(
          fc.array(
            text.filter((value) => value !== ""),
            { maxLength: 5 },
          ),
        ),
        group: field,
        adminDevices: fc.option(fc.nat()),
        from: fc.option(moment),
      },
      { noNullPrototype: true },
    );
    const target = await create();
    await fc.assert(
      fc.asyncProperty(fields, async (value) => {
        const sent = { ...value, expires: null, deviceId: null, email: body().email };
        const user = await create(sent);
        const shown = { ...sent, tags: sent.tags ?? {}, privileges: sent.privileges ?? [], password: null };
        assert.deepEqual(fieldsOf(user), shown);
        const read = (await rest.call("GET", `/api/users/${user.id}`, { token })).json;
        assert.deepEqual(fieldsOf(read), fieldsOf(user));
        assert.equal((await rest.call("DELETE", `/api/users/${user.id}`, { token })).status, 200);
        const operations = Object.entries(sent).map(([name, to]) => ({ op: "replace", path: `/${name}`, value: to }));
        const patched = await rest.call("PATCH", `/api/users/${target.id}`, { token, body: operations });
        assert.deepEqual(fieldsOf(patched.json), fieldsOf(user), patched.body);
      }),
      { numRuns: 40 },
    );
  });
});
