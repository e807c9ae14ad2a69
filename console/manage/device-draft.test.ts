import assert from "node:assert/strict";
import { it } from "node:test";
import { draftOf, fieldsOf } from "./device-draft.ts";

const device = {
  ...{
    id: "1",
    name: "Van",
    description: null,
    min: "+57300",
    tags: { "plate: no": "A:\nB", "~/": "" },
    aliases: ["a", "b"],
  },
  ...{ expires: "2027-12-31T05:00:00.000Z", milleageStart: 12.5, protocols: ["osmand"], networks: [] },
  ...{ positionDays: null, timeOffset: 3600, speedUnit: null, secretSet: true },
};

it("a form that nobody touched changes nothing", () => {
  const { id: _, secretSet: _set, ...kept } = device;
  assert.deepEqual(fieldsOf(draftOf(device, ""), device.expires), kept);
});

it("what is emptied is null, and a new day begins at midnight", () => {
  const draft = draftOf(device, "");
  const fields = fieldsOf(
    { ...draft, min: " ", expires: "2028-01-01", positionDays: 30, noSecret: true },
    device.expires,
  );
  assert.equal(fields.min, null);
  assert.equal(fields.expires, "2028-01-01T00:00:00Z");
  assert.equal(fields.positionDays, 30);
  assert.equal(fields.secret, null);
  assert.equal(fieldsOf({ ...draft, expires: "" }, device.expires).expires, null);
});
