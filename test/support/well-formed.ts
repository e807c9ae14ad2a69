import assert from "node:assert/strict";
import { alarmNames } from "../../src/model/alarms.ts";
import { reservedAttributes } from "../../src/model/attribute-names.ts";
import type { Effect, Fix, ReadingsReport } from "../../src/model/effects.ts";
import { isReading, readingRows } from "../../src/model/readings.ts";

const alarms: ReadonlySet<string> = new Set(alarmNames);

/** Fields that each type of effect may have. */
const fields: { readonly [T in Effect["type"]]: readonly string[] } = {
  identify: ["type", "ids", "secret"],
  fix: [
    "type",
    "time",
    "valid",
    "latitude",
    "longitude",
    "altitude",
    "speed",
    "course",
    "alarms",
    "readings",
    "attributes",
  ],
  readings: ["type", "time", "alarms", "readings", "attributes"],
  reply: ["type", "bytes", "when"],
  commandResult: ["type", "text", "to", "ok"],
  ignored: ["type", "reason"],
  failure: ["type", "cause", "ids"],
};

function inRange(value: number | undefined, low: number, high: number, what: string): void {
  assert.ok(value === undefined || (value >= low && value <= high), `${what}: ${value}`);
}

/** Whole milliseconds, also where no calendar has so many: ingest refuses these. */
function isTime(value: number | undefined): void {
  assert.ok(value === undefined || Number.isInteger(value), `time ${value}`);
}

/** A number that JSON and a double hold as it is; a text that UTF-8 holds as it is. */
function isPlain(value: unknown, what: string): void {
  if (typeof value === "number")
    assert.ok(Math.abs(value) <= Number.MAX_SAFE_INTEGER && !Object.is(value, -0), `${what}: ${value}`);
  if (typeof value === "string" && !value.isWellFormed()) assert.fail(`${what}: ${JSON.stringify(value)}`);
}

function report(effect: Fix | ReadingsReport): void {
  isTime(effect.time);
  for (const alarm of effect.alarms) assert.ok(alarms.has(alarm), `alarm ${alarm} is not in the catalogue`);
  for (const [name, value] of Object.entries(effect.readings)) {
    assert.ok(isReading(name), `${name} is no reading`);
    const row = readingRows[name];
    assert.equal(typeof value, row.kind, `reading ${name}`);
    if (row.kind === "number") inRange(Number(value), row.least, row.most, `reading ${name}`);
    isPlain(value, `reading ${name}`);
  }
  for (const [name, value] of Object.entries(effect.attributes)) {
    assert.ok(
      !reservedAttributes.has(name),
      `attribute ${name} has the name of a reading, or of what the service adds`,
    );
    assert.ok(["string", "number", "boolean"].includes(typeof value), `attribute ${name}: ${value}`);
    isPlain(value, `attribute ${name}`);
  }
}

/** What the rest of the program relies on of every effect, whatever the bytes were. */
export function assertWellFormed(effect: Effect): void {
  for (const [name, value] of Object.entries(effect)) {
    assert.ok(fields[effect.type].includes(name), `${effect.type} has no field ${name}`);
    assert.notEqual(value, undefined, `${effect.type}.${name} is to be absent rather than undefined`);
  }
  if (effect.type === "fix") {
    assert.ok(Number.isInteger(effect.time), `a fix has a time: ${effect.time}`);
    assert.equal(typeof effect.valid, "boolean");
    // Off the earth is for ingest to refuse, so that the report is kept and acknowledged.
    for (const name of ["latitude", "longitude"] as const) isPlain(effect[name], name);
    inRange(effect.speed, 0, 1e5, "speed");
    inRange(effect.course, 0, 360, "course");
    inRange(effect.altitude, -1e5, 1e9, "altitude");
  }
  if (effect.type === "fix" || effect.type === "readings") report(effect);
  if (effect.type === "reply") {
    assert.ok(effect.bytes instanceof Uint8Array && effect.bytes.length > 0, "a reply has bytes");
    assert.ok(["now", "identified", "stored"].includes(effect.when));
  }
  if (effect.type === "commandResult") isPlain(effect.text, "a command's answer");
  if (effect.type === "identify") assert.ok(effect.ids.length > 0, "identify without an identifier");
  if (effect.type === "identify") isPlain(effect.secret, "a secret");
  if (effect.type === "ignored") assert.ok(effect.reason.length > 0, "ignored without a reason");
}
