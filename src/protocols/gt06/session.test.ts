import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import fc from "fast-check";
import type { DecodeContext } from "../../wire/protocol.ts";
import { seal } from "./envelope.ts";
import { gt06 } from "./index.ts";
import { zoneOf } from "./login.ts";
import { clockOffset, initial } from "./session.ts";

const hour = 3_600_000;

/** The login of a tracker with this extension (zone and language). */
function loginOf(extension: number): Uint8Array {
  return seal(0x01, 1, Uint8Array.fromHex(`03500000000000170001${extension.toString(16).padStart(4, "0")}`));
}

/** A location, cells or alarm of 12:05:06 on 3 February 2026 with this number. */
function reportOf(type: number): Uint8Array {
  const rest = type === 0x18 ? "0106011234005678c8".padEnd(106, "0") : "c9057c30a801794fcc2e14b40106011234005678";
  return seal(type, 2, Uint8Array.fromHex(`1a02030c0506${rest}`));
}

/** The time of the report of a frame after all the others. */
function timeOf(frames: readonly Uint8Array[], receivedAt: number): number | undefined {
  const connection = gt06.connect();
  const context: DecodeContext = { receivedAt, transport: "tcp", identified: true, options: {} };
  const effect = frames.map((frame) => connection.decode(frame, context)[0]).at(-1);
  assert.ok(effect?.type === "fix" || effect?.type === "readings", effect?.type ?? "nothing");
  return effect.time;
}

describe("the zone of a login", () => {
  it("is hours and minutes in decimal, east or west", () => {
    assert.equal(zoneOf(0x3200), 8 * hour);
    assert.equal(zoneOf(0x4dd8), -(12 * hour + 45 * 60_000));
    assert.equal(zoneOf(0x0002), 0);
    assert.equal(zoneOf(0x0008), 0);
  });
});

describe("the clock of a message", () => {
  it("is local up to 0x21 and UTC from 0x22 on", () => {
    for (const type of [0x10, 0x11, 0x12, 0x16, 0x18, 0x1a]) assert.equal(clockOffset({ zone: hour }, type), hour);
    for (const type of [0x22, 0x24, 0x26, 0x2d, 0x34, 0xa0]) assert.equal(clockOffset({ zone: hour }, type), 0);
    assert.equal(clockOffset(initial, 0x12), 0);
  });

  it("gives the same bytes after the same login the same time, whenever they arrive and whatever came before", () => {
    const type = fc.constantFrom(0x10, 0x12, 0x18, 0x1a, 0x22);
    const extension = fc.constantFrom(0x3200, 0x0002, 0x4dd8, 0x190a, 0x2260);
    const local = Date.UTC(2026, 1, 3, 12, 5, 6);
    const arrival = fc.integer({ min: -50 * hour, max: 50 * hour }).map((age) => local + age);
    fc.assert(
      fc.property(fc.array(fc.tuple(type, extension)), type, extension, arrival, (before, last, zone, receivedAt) => {
        const earlier = before.flatMap(([number, other]) => [loginOf(other), reportOf(number)]);
        const repeated = before.map(([number]) => reportOf(number));
        const expected = local - (last < 0x22 ? zoneOf(zone) : 0);
        const frames = [...earlier, loginOf(zone), ...repeated, reportOf(last)];
        assert.equal(timeOf(frames, receivedAt), expected);
      }),
    );
  });

  it("is not that of an earlier login where the last one can't be read", () => {
    const damaged = Uint8Array.from(loginOf(0x3200).with(12, 9));
    assert.equal(
      timeOf([loginOf(0x3200), damaged, reportOf(0x12)], Date.UTC(2026, 1, 3)),
      Date.UTC(2026, 1, 3, 12, 5, 6),
    );
  });
});

test("behind a login without serial number, a heartbeat whose checksum matches is still one", () => {
  const connection = gt06.connect();
  const context: DecodeContext = { receivedAt: 0, transport: "tcp", identified: true, options: {} };
  const decode = (hex: string) => connection.decode(Uint8Array.fromHex(hex), context);
  decode("78780d010123456789012345010d0a");
  const [status] = decode("78780a13424008196400041f000d0a");
  const [annex] = decode("7878081304484b280883010d0a");
  assert.ok(annex?.type === "readings");
  assert.deepEqual(annex.readings, { charging: true, battery: 72, signal: 75 });
  const [heartbeat] = decode("78780a13460404000100016d5d0d0a");
  assert.ok(status?.type === "readings" && heartbeat?.type === "readings");
  assert.equal(status.attributes.softwareVersion, 0x40);
  assert.deepEqual([heartbeat.readings.ignition, heartbeat.readings.battery], [true, 66]);
});
