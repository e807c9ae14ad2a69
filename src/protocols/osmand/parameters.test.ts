import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
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

  it("that is not of its form makes the report malformed", () => {
    for (const wrong of [{ charge: "yes" }, { speed: "fast" }, { lat: "north" }]) assert.equal(read(wrong), undefined);
  });
});
