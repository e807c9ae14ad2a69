import assert from "node:assert/strict";
import { it } from "node:test";
import { exportAddress } from "./exports.ts";

it("an export's address names the device, the range, and how the person reads it", () => {
  const [from, to] = ["2026-01-15T00:00:00.000Z", "2026-01-15T23:59:59.999Z"];
  assert.equal(
    exportAddress("a:b", { format: "gpx", from, to, timeZone: "America/Bogota", units: "us" }),
    "/api/devices/a%3Ab/export?format=gpx&from=2026-01-15T00%3A00%3A00.000Z&to=2026-01-15T23%3A59%3A59.999Z&timeZone=America%2FBogota&units=us",
  );
});
