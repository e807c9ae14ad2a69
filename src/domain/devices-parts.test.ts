import assert from "node:assert/strict";
import { test } from "node:test";
import { noIdentityRules } from "../model/device.ts";
import { deviceView, readFields } from "./device-fields.ts";
import { createLocks } from "./locks.ts";

const hash = (secret: string) => `hash of ${secret}`;

test("what a body leaves out takes its default, and what it sets is shown again", () => {
  const plain = readFields("a1", {}, hash);
  assert.deepEqual(plain, {
    warnings: [],
    fields: {
      id: "a1",
      aliases: [],
      name: "a1",
      description: null,
      min: null,
      tags: {},
      expires: null,
      dailyEmailLimit: 50,
      dailySmsLimit: 10,
      odometerStart: 0,
      identity: noIdentityRules,
      timeOffset: 0,
      speedUnit: null,
      positionDays: null,
    },
  });
  const view = {
    id: "a1",
    name: "Truck",
    description: "d",
    min: "+57",
    tags: { a: "b" },
    expires: "2027-01-01T00:00:00.000Z",
    aliases: ["x"],
    milleageStart: 12.5,
    protocols: ["osmand"],
    networks: ["10.0.0.0/8"],
    positionDays: 30,
    timeOffset: 7200,
    speedUnit: "m/s" as const,
  };
  assert.deepEqual(deviceView(readFields("a1", view, hash).fields), { ...view, secretSet: false });
  assert.deepEqual(
    readFields("a1", { tags: null, aliases: null, name: null, milleageStart: null }, hash).fields,
    plain.fields,
  );
});

test("what is accepted and probably a mistake is warned of", () => {
  const body = { id: "b", aliases: ["a1", "x"], Name: "n" };
  const { fields, warnings } = readFields("a1", body, hash);
  assert.deepEqual(fields.aliases, ["x"]);
  assert.equal(fields.id, "a1");
  assert.deepEqual(warnings, [
    "body/Name: not a field that can be set; ignored",
    "body/id: ignored; POST changeId changes a device's id",
    "body/aliases: the device's own id is no alias; left out",
  ]);
});

test("works of one key follow each other, also after a failure", async () => {
  const alone = createLocks<string>();
  const order: string[] = [];
  const work =
    (name: string, fail = false) =>
    async () => {
      order.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${name} ends`);
      if (fail) throw new Error(name);
    };
  const results = await Promise.allSettled([alone("a", work("1", true)), alone("a", work("2")), alone("b", work("3"))]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ["rejected", "fulfilled", "fulfilled"],
  );
  assert.deepEqual(
    order.filter((entry) => !entry.startsWith("3")),
    ["1 begins", "1 ends", "2 begins", "2 ends"],
  );
  assert.ok(order.indexOf("3 begins") < order.indexOf("1 ends"));
});
