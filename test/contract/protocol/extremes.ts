import assert from "node:assert/strict";
import fc from "fast-check";
import { freshRecordOf, onEarth } from "../../../src/ingest/fresh-record.ts";
import { soundReport } from "../../../src/ingest/sound.ts";
import { effectJson, isTime } from "../../../src/model/effect-json.ts";
import type { Effect, Report } from "../../../src/model/effects.ts";
import { noTotals } from "../../../src/model/location.ts";
import { locationJson } from "../../../src/model/location-json.ts";
import type { AnyProtocol } from "../../../src/wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../../src/wire/reader.ts";
import { runs, triedOf } from "../../support/runs.ts";
import { concat, replayOf, type Vector } from "../../support/vectors.ts";
import { assertWellFormed } from "../../support/well-formed.ts";
import type { Check } from "./check.ts";

/** What stands in a field of a text where something went wrong, or somebody tries. */
const extremeTexts = [
  "",
  "0",
  "-0",
  "-1",
  "NaN",
  "Infinity",
  "-Infinity",
  "1e999",
  "-1e999",
  "1e-999",
  "9007199254740993",
  "9".repeat(20),
  "9".repeat(400),
  `-${"9".repeat(400)}`,
  `0.${"1".repeat(400)}`,
  ".",
  "null",
  "__proto__",
  "\0",
  "\u0080\u009f",
  "%00",
  "%ED%A0%80",
  "\\ud800",
  "\\u0000",
  '"',
  "x".repeat(3000),
] as const;

/**
 * Bytes that are no usual number in one of the forms that protocols have: integers at their ends, doubles and floats
 * that are not finite, BCD that is none.
 */
const extremeBytes = [
  "00",
  "7f",
  "80",
  "ff",
  "7fff",
  "8000",
  "ffff",
  "7fffffff",
  "80000000",
  "ffffffff",
  "7f800000",
  "ff800000",
  "7fc00000",
  "0000807f",
  "7fffffffffffffff",
  "8000000000000000",
  "ffffffffffffffff",
  "7ff0000000000000",
  "7ff8000000000000",
  "39393939393939393939",
  "d800dfff",
].map((hex) => Uint8Array.fromHex(hex));

const field = /[^,;:=&?{}[\]"#\s]+/g;

/** A text with one field exchanged; a request's head tells its body's new length. */
function exchanged(bytes: Uint8Array, place: number, extreme: string): Uint8Array {
  const text = latin1Of(bytes);
  const fields = [...text.matchAll(field)];
  const chosen = fields[place % Math.max(1, fields.length)];
  if (chosen === undefined) return bytes;
  const changed = text.slice(0, chosen.index) + extreme + text.slice(chosen.index + chosen[0].length);
  const body = changed.indexOf("\r\n\r\n") + 4;
  const whole = body < 4 ? changed : withLength(changed, body);
  return bytesOfLatin1(whole);
}

function withLength(request: string, body: number): string {
  const head = request.slice(0, body).replace(/^(content-length: *)\d+/im, `$1${request.length - body}`);
  return head + request.slice(body);
}

function overwritten(bytes: Uint8Array, place: number, extreme: Uint8Array): Uint8Array {
  const at = place % (bytes.length + 1);
  return concat([bytes.subarray(0, at), extreme, bytes.subarray(at + extreme.length)]).subarray(0, bytes.length);
}

/** All numbers and texts of what JSON gives back. */
function walk(value: unknown, visit: (leaf: number | string) => void): void {
  if (typeof value === "number" || typeof value === "string") visit(value);
  else if (typeof value === "object" && value !== null)
    for (const [name, each] of Object.entries(value)) {
      visit(name);
      walk(each, visit);
    }
}

/** Messages are made only where something is wrong: this looks at millions of values. */
function assertPlain(json: string): void {
  walk(JSON.parse(json), (leaf) => {
    if (typeof leaf === "number") {
      if (!Number.isFinite(leaf)) assert.fail(`${leaf} in ${json}`);
    } else if (!leaf.isWellFormed()) assert.fail(`a lone surrogate in ${json}`);
  });
}

/** A report goes the way of all: through ingest into a record, which the API answers. */
function assertAnswerable(report: Report): void {
  const receivedAt = Date.UTC(2026, 0, 1);
  const sound = soundReport(report, () => undefined);
  if (sound.type === "fix" && !onEarth(sound)) return;
  const time = sound.time !== undefined && isTime(sound.time) ? sound.time : receivedAt;
  const draft = freshRecordOf(sound, time, receivedAt, true);
  const anchor = { time: 0, latitude: 1, longitude: 2 };
  const record = { ...draft, totals: { ...noTotals, anchor } };
  assert.ok(record !== undefined);
  const json = locationJson(record, 0);
  assertPlain(json);
  for (const [name, value] of Object.entries(JSON.parse(json).attributes))
    if (typeof value !== "string") assert.fail(`attribute ${name} is a ${typeof value}`);
}

function assertFit(effect: Effect): void {
  assertWellFormed(effect);
  assertPlain(JSON.stringify(effectJson(effect)));
  if (effect.type === "fix" || effect.type === "readings") assertAnswerable(effect);
}

/** How many fields a message of text has; 0: it is none. */
function fieldsOf(bytes: Uint8Array): number {
  const text = bytes.every((byte) => byte < 0x7f && (byte >= 0x20 || byte === 0x0d || byte === 0x0a));
  return text ? (latin1Of(bytes).match(field)?.length ?? 0) : 0;
}

/** Numbers and texts at and beyond their ends, in every field of every vector. */
export const extremeChecks: readonly Check[] = [
  {
    title: "gives finite numbers and well-formed texts whatever stands in a message's fields",
    run(protocol, vectors) {
      const messages = vectors.flatMap((vector) =>
        vector.input.chunks ? [] : vector.input.messages.map((message, index) => ({ vector, index, message })),
      );
      if (messages.length === 0) return;
      for (const { vector, index, message } of messages)
        for (const tried of triedOf(fieldsOf(message) * extremeTexts.length)) {
          const extreme = extremeTexts[tried % extremeTexts.length] ?? "";
          const changed = exchanged(message, Math.floor(tried / extremeTexts.length), extreme);
          for (const effect of decode(protocol, vector, index, changed)) assertFit(effect);
        }
      const edit = fc.oneof(
        fc.tuple(fc.nat(), fc.constantFrom(...extremeTexts)),
        fc.tuple(fc.nat(), fc.constantFrom(...extremeBytes)),
      );
      fc.assert(
        fc.property(fc.constantFrom(...messages), fc.array(edit, { minLength: 1, maxLength: 3 }), (chosen, edits) => {
          let damaged = chosen.message;
          for (const [place, extreme] of edits)
            damaged =
              typeof extreme === "string" ? exchanged(damaged, place, extreme) : overwritten(damaged, place, extreme);
          for (const effect of decode(protocol, chosen.vector, chosen.index, damaged)) assertFit(effect);
        }),
        { numRuns: runs(1500) },
      );
    },
  },
];

/**
 * Effects of a damaged message after those before it, without looking at its checksum: what stands under one is to be
 * read too.
 */
function decode(protocol: AnyProtocol, given: Vector, index: number, damaged: Uint8Array): readonly Effect[] {
  const vector: Vector = {
    ...given,
    input: { ...given.input, options: { ...given.input.options, checksums: "ignore" } },
  };
  const replay = replayOf(protocol, vector);
  for (const message of vector.input.messages.slice(0, index)) replay.recorded(message);
  return replay.recorded(damaged);
}
