import assert from "node:assert/strict";
import { it } from "node:test";
import { draftOf, fieldsOf } from "./device-draft.ts";

const zone = "America/Bogota";
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
  assert.deepEqual(fieldsOf(draftOf(device, "", zone), device.expires, zone), kept);
});

it("what is emptied is null, and a new moment is one of the person's zone", () => {
  const draft = draftOf(device, "", zone);
  assert.equal(draft.expires, "2027-12-31T00:00:00");
  const fields = fieldsOf(
    { ...draft, min: " ", expires: "2028-01-01T00:00", positionDays: 30, noSecret: true },
    device.expires,
    zone,
  );
  assert.equal(fields.min, null);
  assert.equal(fields.expires, "2028-01-01T05:00:00.000Z");
  assert.equal(fields.positionDays, 30);
  assert.equal(fields.secret, null);
  assert.equal(fieldsOf({ ...draft, expires: "" }, device.expires, zone).expires, null);
});
