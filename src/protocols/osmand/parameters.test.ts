import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { readJson } from "./json.ts";
import { readParameters } from "./parameters.ts";

function read(parameters: Readonly<Record<string, string>>) {
  const all = { lat: "1", lon: "2", ...parameters };
  return readParameters(new Map(Object.entries(all).map(([name, value]) => [name, [value]])), 0);
}

describe("a parameter of the app's own", () => {
  it("is stored as it was sent, whatever it looks like", () => {
    const numbers = fc.tuple(fc.integer(), fc.nat(), fc.nat({ max: 5 }));
    const texts = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.double({ noNaN: true }).map(String),
      numbers.map(([whole, fraction, zeros]) => `${whole}.${fraction}${"0".repeat(zeros)}`),
      fc.constantFrom("1.10", "0.100", "-0", "-0.0", "1.0", "007", "123456789012345.678", "true", "TRUE", "1e5"),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const effect = read({ own: text });
        assert.ok(effect?.type === "fix");
        assert.equal(String(effect.attributes.own), text);
      }),
    );
  });

  it("is a number or a truth value where the text is exactly that", () => {
    const effect = read({ one: "12.5", two: "-7", three: "true", four: "1.10" });
    assert.ok(effect?.type === "fix");
    assert.deepEqual(effect.attributes, { one: 12.5, two: -7, three: true, four: "1.10" });
  });
});

describe("a parameter of the protocol", () => {
  it("that the app did not fill in says nothing", () => {
    const effect = read({ charge: "", valid: "", ignition: "", motion: "", speed: "", batt: "" });
    assert.ok(effect?.type === "fix");
    assert.deepEqual([effect.valid, effect.speed, effect.readings], [true, undefined, {}]);
  });

  it("that can't be read is kept as an attribute, and the report with it", () => {
    const effect = read({
      batt: "11.43 V",
      ignition: "maybe",
      speed: "NaN",
      altitude: "null",
      heading: "north",
      sat: "300",
    });
    assert.ok(effect?.type === "fix");
    assert.deepEqual(
      [effect.speed, effect.altitude, effect.course, effect.readings],
      [undefined, undefined, undefined, {}],
    );
    const texts = {
      batt: "11.43 V",
      "app.ignition": "maybe",
      speed: "NaN",
      "app.altitude": "null",
      heading: "north",
      sat: 300,
    };
    assert.deepEqual(effect.attributes, texts);
  });

  it("is a truth value in each of the ways that apps write one", () => {
    for (const [texts, value] of [
      [["1", "true", "TRUE", "on", "ON", "yes", "Yes"], true],
      [["0", "false", "False", "off", "OFF", "no"], false],
    ] as const)
      for (const text of texts) {
        const effect = read({ ignition: text, batt: "11.43" });
        assert.ok(effect?.type === "fix");
        assert.deepEqual(effect.readings, { ignition: value, battery: 11.43 }, text);
      }
  });

  it("that is a time or a coordinate and can't be read makes the report malformed", () => {
    for (const wrong of [{ lat: "north" }, { lon: "NaN" }, { lat: "" }, { timestamp: "today" }, { location: "1" }])
      assert.equal(read(wrong), undefined);
  });

  it("that is longer than any measure is left out and named", () => {
    const effect = read({ own: "x".repeat(5000), ["n".repeat(70)]: "1", id: "phone" });
    assert.ok(effect?.type === "fix");
    assert.deepEqual(effect.attributes, { "app.leftOut": `own,${"n".repeat(64)}` });
  });
});

describe("a JSON location", () => {
  const readLocation = (location: object) => readJson({ device_id: "phone", location }, 7)?.effects[0];
  const coords = { latitude: 1, longitude: 2 };

  it("without a time counts from its arrival, whether the app leaves it out or says null", () => {
    for (const timestamp of [undefined, null]) {
      const effect = readLocation({ timestamp, coords });
      assert.ok(effect?.type === "fix");
      assert.equal(effect.time, 7);
    }
    assert.equal(readLocation({ timestamp: "today", coords }), undefined);
  });

  it("keeps what can't be read beside its position as attributes", () => {
    const effect = readLocation({
      coords: { ...coords, speed: "NaN", altitude: "12.5", heading: null, accuracy: "fair" },
      is_moving: "ON",
      odometer: {},
      battery: { level: "full", is_charging: "maybe" },
      extras: { fuel: 120 },
    });
    assert.ok(effect?.type === "fix");
    assert.equal(effect.altitude, 12.5);
    assert.deepEqual(effect.readings, { motion: true });
    assert.deepEqual(effect.attributes, {
      level: "full",
      is_charging: "maybe",
      "app.accuracy": "fair",
      "app.fuel": 120,
      "app.odometer": "{}",
      speed: "NaN",
    });
  });
});
