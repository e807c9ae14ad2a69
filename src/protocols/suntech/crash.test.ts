import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOfLatin1 } from "../../wire/reader.ts";
import { suntech } from "./index.ts";

const context = { receivedAt: 0, transport: "tcp", identified: true, options: {} } as const;
/** A crash at 2026-02-03 10:15:30 in 0° 0°, without its envelope: 6 bytes of time and four blocks of 612. */
const whole = new Uint8Array(2454);
whole.set([26, 2, 3, 10, 15, 30]);
const half = 1227;

function part(id: string, number: number): Uint8Array {
  const data = whole.subarray((number - 1) * half, number * half);
  return Uint8Array.of(...bytesOfLatin1(`CRR;${id};00${number};002;`), ...data, ...bytesOfLatin1(";00\r"));
}

test("the parts of a crash are of one device", () => {
  const connection = suntech.connect();
  connection.decode(part("1234567890", 1), context);
  const effects = connection.decode(part("9876543210", 2), context);
  assert.deepEqual(
    effects.map(({ type }) => type),
    ["identify", "failure"],
  );
});

test("a keep-alive between the parts of a crash loses nothing of it", () => {
  const connection = suntech.connect();
  connection.decode(part("1234567890", 1), context);
  connection.decode(bytesOfLatin1("ALV;1234567890\r"), context);
  const effects = connection.decode(part("1234567890", 2), context);
  assert.deepEqual(
    effects.flatMap((effect) => (effect.type === "fix" ? effect.alarms : effect.type)),
    ["accident"],
  );
});
