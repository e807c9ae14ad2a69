import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Location } from "../live/events.ts";
import { readingsOf } from "./readings.ts";

const location: Location = {
  ...{ dateTime: "2026-11-27T17:00:00.000Z", latitude: 4.7, longitude: -74.07, hasCriticalAlert: false },
  ...{ alerts: [], alertTexts: [], warnings: [], warningTexts: [] },
  attributes: { ignition: "true", moving: "false", text: "truely" },
};

describe("readings of a location", () => {
  it("tell on and off of attributes as of inputs, in the reader's language", () => {
    const found = readingsOf({ ...location, inputs: [true] });
    assert.deepEqual(found, [
      { name: "input1", value: true },
      { name: "ignition", value: true },
      { name: "moving", value: false },
      { name: "text", value: "truely" },
    ]);
  });
});
