import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fillTemplate, placeholders, type TemplateValues, unknownPlaceholders } from "./template.ts";

const names = Object.keys(placeholders);
const values: TemplateValues = {
  DeviceName: "Truck 12",
  DeviceId: "d1",
  AlertName: "Too fast",
  AlertType: "Speed over its limit",
  AlertText: "Speed 92 km/h over the limit of 80",
  AlertDate: "21 Nov 2026, 05:29:00 GMT-5",
  Zone: "",
  Latitude: "4.711000",
  Longitude: "-74.072100",
  Speed: "92 km/h",
  Mileage: "10,003.2 km",
  MapLink: "https://map.example/",
};

test("placeholders are filled in, everything else stays", () => {
  assert.equal(
    fillTemplate(
      "{{DeviceName}} ({{ DeviceId }}): {{AlertText}}{{Zone}} {{devicename}} {{}} {{toString}} {DeviceName} {{{Speed}}}",
      values,
    ),
    "Truck 12 (d1): Speed 92 km/h over the limit of 80 {{devicename}} {{}} {{toString}} {DeviceName} {92 km/h}",
  );
});

test("unknown placeholders are named, each once", () => {
  assert.deepEqual(unknownPlaceholders("{{Name}} {{DeviceName}} {{ Name }} {{}} {{constructor}} {{a b}} { {x} }"), [
    "Name",
    "",
    "constructor",
    "a b",
  ]);
  assert.deepEqual(unknownPlaceholders(names.map((name) => `{{${name}}}`).join()), []);
});

test("no value is read as a template again", () => {
  const part = fc.oneof(
    fc.constantFrom(...names.map((name) => `{{${name}}}`), "{{", "}}", "{", "}", "$&", "$1"),
    fc.string(),
  );
  const value = fc.array(part, { maxLength: 4 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(value, value, fc.string(), (name, text, between) => {
      fc.pre(!/[{}]/.test(between));
      const filled = fillTemplate(`{{DeviceName}}${between}{{AlertText}}`, {
        ...values,
        DeviceName: name,
        AlertText: text,
      });
      assert.equal(filled, name + between + text);
    }),
  );
});

test("any text is filled in, and what is unknown in it stays", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constantFrom("{{", "}}", "{{Speed}}"), fc.string())), (parts) => {
      const text = parts.join("");
      const filled = fillTemplate(text, values);
      for (const name of unknownPlaceholders(text)) assert.ok(filled.includes(name));
    }),
  );
});
