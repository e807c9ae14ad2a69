import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { BusEvent } from "../../src/ports/bus.ts";
import { endRest, errorOf, type Rest, restWithDevices } from "../support/rest.ts";
import { ruleCalls, speedRule as speed } from "../support/rule-calls.ts";

let rest: Rest;
let token: string;
const events: BusEvent[] = [];
const secret = "0123456789abcdef";
const webhook = { url: "https://example.com/hook", secret };

before(async () => {
  ({ rest, token } = await restWithDevices());
  rest.bus.subscribe((event) => events.push(event));
});
after(() => endRest(rest));

const { post, create, remove } = ruleCalls(() => ({ rest, token }));

describe("alert rules", () => {
  test("created with defaults, read, replaced, patched, deleted; the bus tells of each change", async () => {
    events.length = 0;
    const made = await post({ ...speed, x: 1, parameters: { kmh: 80, limit: 3 } });
    assert.equal(made.headers.location, `/api/alertRules/${made.json.id}`);
    const { id, creation, modification, apiUsage: _usage, apiDailyUsage: _daily, warnings, ...fields } = made.json;
    assert.equal(creation, modification);
    assert.deepEqual(warnings, [
      "body/x: not a field that can be set; ignored",
      "body/parameters/limit: not a field that can be set; ignored",
    ]);
    assert.deepEqual(fields, {
      success: true,
      error: null,
      ...speed,
      enabled: true,
      groups: [],
      schedule: null,
      conditions: [],
      hysteresis: { holdSeconds: 0, rearmAt: null, cooldownSeconds: 0 },
      channels: { email: [], sms: [], webhook: [], telegram: [] },
      commands: [],
      critical: false,
      text: null,
      notifyWhenOver: false,
      notifyOnlyWhenOver: false,
      mute: null,
      problems: [],
    });
    const path = `/api/alertRules/${id}`;
    const again = await rest.call("PUT", path, { token, body: made.json });
    assert.deepEqual([again.status, again.json.warnings], [200, undefined]);
    const body = [
      { op: "test", path: "/parameters/kmh", value: 80 },
      { op: "replace", path: "/parameters/kmh", value: 90 },
      { op: "add", path: "/channels/email/-", value: { to: "ana@example.com" } },
    ];
    const patched = (await rest.call("PATCH", path, { token, body })).json;
    assert.deepEqual(patched.parameters, { kmh: 90 });
    assert.deepEqual(patched.channels.email, [
      { to: "ana@example.com", language: null, timeZone: null, units: "metric" },
    ]);
    const { rules } = (await rest.call("GET", "/api/alertRules", { token })).json;
    assert.deepEqual(
      rules.map((rule: { id: string }) => rule.id),
      [id],
    );
    await remove(id);
    for (const method of ["GET", "PUT", "PATCH", "DELETE"])
      assert.deepEqual(errorOf(await rest.call(method, path, { token, body: method === "PATCH" ? [] : speed })), [
        404,
        "alert rule not found",
      ]);
    assert.deepEqual(
      events.map(({ type }) => type),
      ["rulesChanged", "rulesChanged", "rulesChanged", "rulesChanged"],
    );
  });

  test("a webhook whose URL is an address that is never called is refused, as is one put into its place later", async () => {
    const refused = async (url: string, reason: RegExp) => {
      const answer = await post({ ...speed, channels: { webhook: [webhook, { url, secret }] } });
      assert.deepEqual(errorOf(answer), [400, "invalid input"], url);
      assert.equal(answer.json.details.length, 1);
      assert.match(answer.json.details[0], new RegExp(`^body/channels/webhook/1/url: .*${reason.source}`), url);
    };
    const addresses = [
      "127.0.0.1",
      "2130706433",
      "10.1.2.3:8080",
      "192.168.1.1",
      "[::1]",
      "[fd12::1]",
      "[::ffff:10.0.0.1]",
    ];
    for (const host of addresses) await refused(`https://${host}/hook`, /private/);
    await refused("http://169.254.169.254/latest/meta-data", /private|metadata/);
    const rule = await create({ channels: { webhook: [webhook] } });
    const patch = [{ op: "replace", path: "/channels/webhook/0", value: { url: "http://10.0.0.1/", secret } }];
    assert.deepEqual(errorOf(await rest.call("PATCH", `/api/alertRules/${rule.id}`, { token, body: patch })), [
      400,
      "invalid input",
    ]);
    // Where a name leads is known when it is called.
    const named = await create({ channels: { webhook: [{ url: "http://localhost/", secret }] } });
    for (const { id } of [rule, named]) await remove(id);
  });

  test("all that can be set survives POST, GET, PUT and a patch that changes nothing", async () => {
    const geometry = { type: "Point", coordinates: [-74, 4.7], radius: 1 };
    const zone = (await rest.call("POST", "/api/geofences", { token, body: { name: "Z", geometry } })).json;
    const recipient = { language: "es", timeZone: "America/Bogota", units: "imperial" };
    const full = {
      ...speed,
      enabled: false,
      schedule: { days: ["monday", "sunday"], from: "22:00", to: "06:00", timeZone: "Europe/Paris" },
      conditions: [
        { attribute: "ignition", operator: "equal", value: true },
        { attribute: "driver", operator: "equal", value: "12" },
        { attribute: "fuel", operator: "less", value: 12.5 },
        { zone: zone.id, operator: "outside" },
      ],
      hysteresis: { holdSeconds: 10, rearmAt: 70.5, cooldownSeconds: 60 },
      channels: {
        email: [{ to: "ana@example.com", ...recipient }],
        sms: [{ to: "+57 300 123-4567", ...recipient }],
        webhook: [{ url: webhook.url, secret: null }],
        telegram: [],
      },
      commands: [{ command: "AT\r\n", format: "Text", sms: false, encode: true, delaySeconds: 5 }],
      critical: true,
      text: "{{DeviceName}}: {{ AlertText }} ñ",
      notifyWhenOver: true,
      notifyOnlyWhenOver: true,
    };
    const made = await create({ ...full, channels: { ...full.channels, webhook: [webhook] } });
    const path = `/api/alertRules/${made.id}`;
    const same = (json: object) => assert.deepEqual({ ...json, ...full }, json);
    same(made);
    same((await rest.call("GET", path, { token })).json);
    const replaced = await rest.call("PUT", path, { token, body: made });
    same(replaced.json);
    assert.equal(replaced.json.warnings, undefined);
    same((await rest.call("PATCH", path, { token, body: [] })).json);
    same((await rest.call("GET", "/api/alertRules", { token })).json.rules[0]);
    await remove(made.id);
    await rest.call("DELETE", `/api/geofences/${zone.id}`, { token });
  });

  test("a webhook's secret is never shown again, and stays for its URL", async () => {
    const rule = await create({ channels: { webhook: [webhook] } });
    assert.equal(JSON.stringify(rule).includes(secret), false);
    const path = `/api/alertRules/${rule.id}`;
    const stored = async () => (await rest.store.alertRules.find(rule.id))?.channels.webhook;
    for (const given of [null, undefined]) {
      const body = { ...speed, channels: { webhook: [{ url: webhook.url, secret: given }] } };
      assert.equal((await rest.call("PUT", path, { token, body })).status, 200);
      assert.deepEqual(await stored(), [webhook]);
    }
    const renamed = [{ op: "replace", path: "/name", value: "Renamed" }];
    assert.equal((await rest.call("PATCH", path, { token, body: renamed })).status, 200);
    assert.deepEqual(await stored(), [webhook]);
    const moved = [{ op: "replace", path: "/channels/webhook/0/url", value: "https://example.com/other" }];
    const refused = await rest.call("PATCH", path, { token, body: moved });
    assert.deepEqual(
      [...errorOf(refused), refused.json.details],
      [400, "invalid input", ["body/channels/webhook/0/secret: is required for a new URL"]],
    );
    const copy = await rest.call("POST", `${path}/copy`, { token, body: { devices: ["b"] } });
    assert.equal(copy.status, 201);
    assert.equal(copy.headers.location, `/api/alertRules/${copy.json.id}`);
    assert.deepEqual(
      [copy.json.name, copy.json.devices, copy.json.channels.webhook[0].secret],
      ["Renamed", ["b"], null],
    );
    assert.deepEqual((await rest.store.alertRules.find(copy.json.id))?.channels.webhook, [webhook]);
    await remove(rule.id);
    await remove(copy.json.id);
  });

  test("what makes no sense is refused with every problem named, and nothing is stored", async () => {
    const cases: [object, RegExp[]][] = [
      [{ parameters: { kmh: -1 } }, [/^body\/parameters: kmh must be/]],
      [{ parameters: {} }, [/^body\/parameters\/kmh: is required/]],
      [{ type: "flying" }, [/^body\/type: must be one of alarm, allowedZone/]],
      [{ type: "allowedZone", parameters: { zones: ["x"] } }, [/^body\/parameters\/zones\/0: there is no geofence x/]],
      [{ type: "allowedZone", parameters: { zones: [] } }, [/^body\/parameters: zones must name/]],
      [{ schedule: { days: [] } }, [/^body\/schedule\/days: must name a day/]],
      [
        {
          type: "allowedZone",
          parameters: { zones: ["x"] },
          schedule: { days: [] },
          conditions: [{ attribute: "battery", operator: "less", value: 101 }],
          text: "{{Driver}}",
        },
        [/zones\/0: there is no/, /days: must name a day/, /conditions\/0: value of battery/, /no placeholder/],
      ],
      [
        { type: "attributeGreater", parameters: { attribute: "fuel", value: 500 } },
        [/^body\/parameters: value of fuel must be from 0 to 100 %/],
      ],
      [{ schedule: { days: ["monday"], from: "25:00" } }, [/^body\/schedule\/from/]],
      [{ schedule: { days: ["monday"], timeZone: "Nowhere/City" } }, [/^body\/schedule\/timeZone/]],
      [
        { text: "{{DeviceName}} {{Driver}}", name: " ", devices: [] },
        [/^body\/name/, /^body\/devices/, /^body\/text: there is no placeholder \{\{Driver\}\}/],
      ],
      [
        {
          conditions: [
            { operator: "inside" },
            { operator: "less", attribute: "ignition", value: 1 },
            { operator: "outside", zone: "y" },
          ],
        },
        [/^body\/conditions\/0\/zone/, /^body\/conditions\/1: ignition/, /^body\/conditions\/2\/zone: there is no/],
      ],
      [
        {
          schedule: { days: ["monday", "tuesday"], from: "08:00", to: "09:00" },
          hysteresis: { holdSeconds: 3600 },
        },
        [/^body\/hysteresis\/holdSeconds: must be less than the 3600 seconds of the schedule's longest period/],
      ],
      [{ hysteresis: { rearmAt: 90 } }, [/^body\/hysteresis\/rearmAt: must not be over/]],
      [
        { type: "sos", parameters: {}, hysteresis: { holdSeconds: 1, rearmAt: 1 }, notifyOnlyWhenOver: true },
        [/holdSeconds/, /notifyOnlyWhenOver/, /rearmAt: sos has no threshold/],
      ],
      [
        { channels: { email: [{ to: "ana" }, { to: "ANA@example.com" }, { to: "ana@example.com" }] } },
        [/0\/to/, /twice/],
      ],
      [{ channels: { sms: [{ to: "12" }] } }, [/^body\/channels\/sms\/0\/to/]],
      [
        {
          channels: {
            webhook: [
              { url: "ftp://example.com", secret },
              { url: "https://u:p@example.com/", secret },
            ],
          },
        },
        [/0\/url: must be an http/, /1\/url: must not hold/],
      ],
      [{ channels: { webhook: [{ url: "https://example.com", secret: "short" }] } }, [/secret/]],
      [{ commands: [{ command: "zz", format: "Hex" }] }, [/^body\/commands\/0\/command: must be hexadecimal/]],
      [{ devices: Array.from({ length: 1001 }, (_, index) => `d${index}`) }, [/^body\/devices: must not have more/]],
    ];
    for (const [fields, patterns] of cases) {
      const answer = await post({ ...speed, ...fields });
      assert.deepEqual(errorOf(answer), [400, "invalid input"], JSON.stringify(fields));
      const details: string[] = answer.json.details;
      assert.equal(details.length, patterns.length, `${JSON.stringify(fields)} ${details.join("; ")}`);
      for (const pattern of patterns)
        assert.ok(
          details.some((detail) => pattern.test(detail)),
          `${pattern} ${details}`,
        );
    }
    assert.deepEqual((await rest.call("GET", "/api/alertRules", { token })).json.rules, []);
  });

  test("a rule on fuel is told with what it needs, when it is made, changed and tried; a device with what is wrong with its table", async () => {
    const fuel = { ...speed, type: "fuelDecrease", parameters: { litres: 40, minutes: 20 } };
    const made = await post(fuel);
    const needs =
      "/parameters: it needs the reading fuelVolume (litres), or the device's tag fuelTable, which turns a raw value into litres, in 3 reports before the change and 3 after it while the vehicle stands, or in 5 and 7 while it drives";
    assert.deepEqual([made.status, made.json.warnings], [201, [`body${needs}`]]);
    assert.deepEqual(made.json.parameters, { tank: 1, litres: 40, minutes: 20 });
    const range = { deviceId: "a", from: "2026-01-01T00:00:00Z", to: "2026-01-01T00:00:01Z" };
    const tried = await rest.call("POST", "/api/alertRules/try", { token, body: { ...range, ruleId: made.json.id } });
    assert.ok(tried.body.includes(JSON.stringify(`rule${needs}`)), tried.body);
    for (const parameters of [{ minutes: 20 }, { points: 10, litres: 40, minutes: 20 }])
      assert.equal((await post({ ...fuel, parameters })).status, 400, JSON.stringify(parameters));
    await remove(made.json.id);
    const tags = { fuelTable: "analog1 0:0", fuelTable2: "analog2 0:0 5:90" };
    const device = await rest.call("POST", "/api/devices", { token, body: { id: "tanks", tags } });
    assert.deepEqual(device.json.warnings, [
      "body/tags/fuelTable: must go on with 2 to 64 pairs of raw value and litres, such as 0.2:0 4.8:120; it is not used",
    ]);
    await rest.call("DELETE", "/api/devices/tanks", { token });
  });

  test("a rule on a reading that no protocol of its devices gives is made, with a warning; one that may report by any is not warned of", async () => {
    const body = { id: "plain", protocols: ["h02"] };
    await rest.call("POST", "/api/devices", { token, body });
    const heart = {
      ...speed,
      type: "attributeGreater",
      parameters: { attribute: "rpm", value: 1 },
      devices: ["plain"],
    };
    const made = await post(heart);
    assert.deepEqual(
      [made.status, made.json.warnings],
      [201, ["body/parameters/attribute: no protocol of its devices gives rpm (h02)"]],
    );
    const conditions = [{ attribute: "rpm", operator: "greater", value: 1 }];
    const put = { ...speed, devices: ["plain"], conditions };
    const replaced = await rest.call("PUT", `/api/alertRules/${made.json.id}`, { token, body: put });
    assert.deepEqual(replaced.json.warnings, [
      "body/conditions/0/attribute: no protocol of its devices gives rpm (h02)",
    ]);
    await remove(made.json.id);
    for (const fields of [
      { devices: ["a", "plain"] },
      { parameters: { attribute: "fuel", value: 1 } },
      { parameters: { attribute: "ownAttribute", value: 1 } },
    ]) {
      const fine = await post({ ...heart, ...fields });
      assert.deepEqual([fine.status, fine.json.warnings], [201, undefined]);
      await remove(fine.json.id);
    }
    await rest.call("DELETE", "/api/devices/plain", { token });
  });

  test("a zone of several that is deleted is a problem of the rule, which watches the others", async () => {
    const geometry = { type: "Point", coordinates: [-74, 4.7], radius: 1 };
    const [one, other] = [
      (await rest.call("POST", "/api/geofences", { token, body: { name: "One", geometry } })).json,
      (await rest.call("POST", "/api/geofences", { token, body: { name: "Other", geometry } })).json,
    ];
    const made = await post({ ...speed, type: "forbiddenZone", parameters: { zones: [one.id, other.id] } });
    await rest.call("DELETE", `/api/geofences/${one.id}`, { token });
    const path = `/api/alertRules/${made.json.id}`;
    const problems = async () => (await rest.call("GET", path, { token })).json.problems;
    assert.deepEqual(await problems(), [`zones: there is no ${one.id}; the rule watches the others`]);
    const range = { deviceId: "a", from: "2026-01-01T00:00:00Z", to: "2026-01-01T00:00:01Z" };
    const tried = () => rest.call("POST", "/api/alertRules/try", { token, body: { ...range, ruleId: made.json.id } });
    const { status, body } = await tried();
    assert.equal(status, 200);
    assert.ok(body.includes(`rule/parameters/zones/0: there is no geofence ${one.id}`), body);
    await rest.call("DELETE", `/api/geofences/${other.id}`, { token });
    assert.match((await problems())[0], /the rule can't fire$/);
    assert.equal((await tried()).status, 400);
    await remove(made.json.id);
  });

  test("what a rule refers to and is gone stands in its problems, and the rule can still be edited", async () => {
    const geometry = { type: "Point", coordinates: [-74, 4.7], radius: 1 };
    const zone = (await rest.call("POST", "/api/geofences", { token, body: { name: "Z", geometry } })).json;
    const group = (await rest.call("POST", "/api/groups", { token, body: { name: "G", devices: ["a"] } })).json;
    await rest.call("POST", "/api/devices", { token, body: { id: "short" } });
    const email = "commander@example.com";
    const commander = await rest.userToken({ email, privileges: ["admin"] });
    const made = await post(
      {
        ...speed,
        type: "forbiddenZone",
        parameters: { zones: [zone.id] },
        devices: ["short"],
        groups: [group.id],
        commands: [{ command: "cut" }],
      },
      commander,
    );
    assert.deepEqual([made.status, made.json.problems], [201, []]);
    const deleted = await rest.call("DELETE", `/api/geofences/${zone.id}`, { token });
    assert.deepEqual(deleted.json.warnings, ["alert rules that name it and can't watch it any more: 1"]);
    for (const path of [`/api/groups/${group.id}`, "/api/devices/short"]) {
      const { json } = await rest.call("DELETE", path, { token });
      assert.deepEqual(json.warnings, ["alert rules that name it and can't watch it any more: 1"], path);
    }
    const user = await rest.store.users.findByEmail(email);
    const body = [{ op: "replace", path: "/privileges", value: ["write"] }];
    assert.equal((await rest.call("PATCH", `/api/users/${user?.id}`, { token, body })).status, 200);
    const path = `/api/alertRules/${made.json.id}`;
    assert.deepEqual((await rest.call("GET", path, { token })).json.problems, [
      "devices: none is registered as short",
      `groups: there is no ${group.id}`,
      `zones: there is no ${zone.id}; the rule can't fire`,
      "commands: the user who set them may not send commands any more; they are not sent",
    ]);
    const off = await rest.call("PATCH", path, { token, body: [{ op: "replace", path: "/enabled", value: false }] });
    assert.deepEqual([off.status, off.json.problems.length], [200, 3]);
    await remove(made.json.id);
  });
});
