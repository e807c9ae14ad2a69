import assert from "node:assert/strict";
import fc from "fast-check";
import type { Effect, Fix } from "../../../src/model/effects.ts";
import type { AnyProtocol, SimulatedDevice, SimulatedReport, Transport } from "../../../src/wire/protocol.ts";
import { Replay } from "../../../src/wire/replay.ts";
import { runs } from "../../support/runs.ts";
import { concat, framesOf } from "../../support/vectors.ts";
import type { Check } from "./check.ts";

const receivedAt = Date.UTC(2026, 5, 1);

const report: fc.Arbitrary<SimulatedReport> = fc.record({
  time: fc
    .integer({ min: Date.UTC(2020, 0, 1) / 1000, max: Date.UTC(2050, 0, 1) / 1000 })
    .map((second) => second * 1000),
  latitude: fc.double({ min: -89.9, max: 89.9, noNaN: true }),
  longitude: fc.double({ min: -179.9, max: 179.9, noNaN: true }),
  altitude: fc.integer({ min: 0, max: 5000 }),
  speed: fc.double({ min: 0, max: 250, noNaN: true }),
  course: fc.double({ min: 0, max: 359, noNaN: true }),
  satellites: fc.integer({ min: 4, max: 12 }),
  ignition: fc.boolean(),
  battery: fc.integer({ min: 1, max: 100 }),
});

/** Degrees that are no latitude and no longitude, of either sign, within what every protocol's own form can carry. */
const off = (first: number, last: number) =>
  fc
    .tuple(fc.double({ min: first, max: last, noNaN: true }), fc.constantFrom(1, -1))
    .map(([size, sign]) => size * sign);

const offTheEarth: fc.Arbitrary<SimulatedReport> = fc
  .tuple(report, fc.option(off(90.1, 99.9)), off(180.1, 214))
  .chain(([usual, latitude, longitude]) =>
    fc.constantFrom(
      { ...usual, longitude },
      { ...usual, ...(latitude !== null && { latitude }), longitude },
      ...(latitude === null ? [] : [{ ...usual, latitude }]),
    ),
  );

const device = fc.integer({ min: 1, max: 99_999_999_999 }).map((serial) => `3500${String(serial).padStart(11, "0")}`);

/** Characters of one, two and three bytes in UTF-8, delimiters and controls among them. */
const commandText = fc.string({
  unit: fc.integer({ min: 0, max: 0x2fff }).map((code) => String.fromCharCode(code)),
  maxLength: 300,
});

/**
 * Short words by which protocols call messages, or commands that reports answer or nothing does: a command's answer
 * can't have such a name. Words of up to four letters and digits were all tried. V and a digit is H02's; single letters
 * are Coban's.
 */
const namesOfMessages = new RegExp(
  `^(?:(?:${[
    "LK|TKQ|AL|UD|UD2|PPR|INIT|TEMP", // watch
    "[PSU]\\d\\d|W01", // jt600
    "AA[AC]|CC[CE]|A10|D00", // meitrack
    "DTC|OBD", // gps103
    "GTR", // suntech
  ].join("|")})\\b|HBD|A[O-Z]\\d\\d)`, // queclink's and tk103's begin so
);

/**
 * A connection of the simulated device: its bytes are cut and decoded as the gateway would, its answers read as the
 * device would.
 */
class Simulation {
  readonly #protocol: AnyProtocol;
  readonly #device: SimulatedDevice;
  readonly #replay: Replay;
  readonly #transport: Transport;

  constructor(protocol: AnyProtocol, device: SimulatedDevice, identified: boolean) {
    this.#protocol = protocol;
    this.#device = device;
    this.#transport = protocol.transports.includes("tcp") ? "tcp" : (protocol.transports[0] ?? "tcp");
    this.#replay = new Replay(protocol, { transport: this.#transport, receivedAt, identified, options: {} });
  }

  send(bytes: Uint8Array): readonly Effect[] {
    if (this.#transport === "udp") return this.#replay.recorded(bytes);
    return framesOf(this.#protocol, this.#transport, bytes).flatMap((frame) => this.#replay.message(frame));
  }

  /** Reports that the replies among these effects acknowledge; undefined where the device reads no answers. */
  acknowledged(effects: readonly Effect[]): number | undefined {
    const { answer } = this.#device;
    if (answer === undefined) return undefined;
    let bytes = concat(effects.flatMap((effect) => (effect.type === "reply" ? [effect.bytes] : [])));
    let reports = 0;
    while (bytes.length > 0) {
      const read = answer(bytes);
      assert.ok(read !== "more", "an answer that is not whole");
      assert.ok(read.accepted, "an answer that refuses");
      assert.ok(read.length > 0 && read.length <= bytes.length);
      for (let length = 0; length < read.length; length++)
        assert.equal(answer(bytes.subarray(0, length)), "more", `${length} of ${read.length} bytes of an answer`);
      reports += read.reports;
      bytes = bytes.subarray(read.length);
    }
    return reports;
  }
}

function near(actual: number | undefined, expected: number, tolerance: number, what: string): void {
  if (actual !== undefined) assert.ok(Math.abs(actual - expected) <= tolerance, `${what} ${actual}, sent ${expected}`);
}

/** A fix says what was reported, within what the protocol's own units can carry; what it does not carry is absent. */
function assertSame(fix: Fix, sent: SimulatedReport): void {
  assert.equal(fix.time, sent.time);
  assert.equal(fix.valid, true);
  near(fix.latitude, sent.latitude, 1e-5, "latitude");
  near(fix.longitude, sent.longitude, 1e-5, "longitude");
  near(fix.altitude, sent.altitude, 1, "altitude");
  near(fix.speed, sent.speed, 1, "speed");
  // 359.6 may be written as 0.
  const turn = Math.abs((fix.course ?? sent.course) - sent.course);
  near(Math.min(turn, 360 - turn), 0, 1, "course");
  near(fix.readings.satellites, sent.satellites, 0, "satellites");
  near(fix.readings.battery, sent.battery, 20, "battery");
  if (fix.readings.ignition !== undefined) assert.equal(fix.readings.ignition, sent.ignition);
}

/** The device's side: what it says is what is understood. */
export const simulateChecks: readonly Check[] = [
  {
    title: "understands what its simulated device says, and the device its answers",
    run(protocol) {
      const { simulate } = protocol;
      if (simulate === undefined) return;
      fc.assert(
        fc.property(
          device,
          fc.array(report, { minLength: 1, maxLength: 5 }),
          fc.integer({ min: 1, max: 60_000 }),
          (id, sent, serial) => {
            const simulation = new Simulation(protocol, simulate, false);
            const login = simulate.login === undefined ? [] : simulation.send(simulate.login(id, serial));
            simulation.acknowledged(login);
            const given = simulation.send(simulate.report(id, sent, serial + 1));
            const identified = [...login, ...given].find((effect) => effect.type === "identify");
            assert.ok(identified?.ids.includes(id), `identified as ${identified?.ids}`);
            const fixes = given.filter((effect) => effect.type === "fix");
            assert.equal(fixes.length, sent.length);
            for (const [index, fix] of fixes.entries()) {
              const expected = sent[index];
              if (expected !== undefined) assertSame(fix, expected);
            }
            const acknowledged = simulation.acknowledged(given);
            if (acknowledged !== undefined) assert.equal(acknowledged, sent.length);
          },
        ),
        { numRuns: runs(100) },
      );
    },
  },
  {
    title: "gives and acknowledges a report from nowhere on earth, as it was sent or without its position",
    run(protocol) {
      const { simulate } = protocol;
      if (simulate === undefined) return;
      fc.assert(
        fc.property(device, offTheEarth, (id, sent) => {
          const simulation = new Simulation(protocol, simulate, false);
          if (simulate.login !== undefined) simulation.send(simulate.login(id, 1));
          const given = simulation.send(simulate.report(id, [sent], 2));
          const reports = given.filter((effect) => effect.type === "fix" || effect.type === "readings");
          const [first] = reports;
          assert.ok(first !== undefined && reports.length === 1, JSON.stringify(given));
          if (first.type === "fix") assertSame(first, sent);
          else assert.equal(first.time, sent.time);
          // A tracker that gets no answer sends the message again, and everything after it waits.
          const acknowledged = simulation.acknowledged(given);
          if (acknowledged !== undefined) assert.equal(acknowledged, 1);
        }),
        { numRuns: runs(100) },
      );
    },
  },
  {
    title: "wraps any command text as one message of its own, or says why not",
    run(protocol) {
      if (protocol.commandNames.length === 0) return;
      fc.assert(
        fc.property(device, commandText, (id, text) => {
          const encoded = protocol.connect().command(text, id, 1);
          assert.ok(encoded !== undefined);
          if (!(encoded instanceof Uint8Array)) return assert.ok(encoded.refused.length > 0);
          assert.ok(encoded.length > 0);
          const frames = framesOf(protocol, "tcp", encoded);
          assert.ok(frames.length <= 1, `${JSON.stringify(text)} broke out of its frame`);
        }),
        { numRuns: runs(50) },
      );
    },
  },
  {
    title: "expects the answers of its simulated device to commands under the names that they have",
    run(protocol, vectors) {
      const { simulate } = protocol;
      if (simulate?.obey === undefined) return;
      const { obey } = simulate;
      // Every protocol at hand takes such texts, but those whose commands are bytes: these take their examples.
      const words = fc
        .stringMatching(/^[A-UW-Z][A-Z0-9]{1,5}(,[0-9]{1,3}){0,2}$/)
        .filter((each) => !namesOfMessages.test(each));
      const takesWords = protocol.connect().command("AB", "350000000000001", 1) instanceof Uint8Array;
      const examples = vectors.flatMap(({ command }) =>
        command !== undefined && "bytes" in command.expected ? [command.text] : [],
      );
      const text = takesWords ? words : fc.constantFrom(...examples);
      fc.assert(
        fc.property(device, text, fc.integer({ min: 1, max: 0xffff_ffff }), (id, wanted, mark) => {
          const encoded = protocol.connect().command(wanted, id, mark);
          assert.ok(encoded instanceof Uint8Array);
          const expected = protocol.expects(encoded);
          assert.ok(expected !== "nothing");
          const answer = obey(encoded, id, 1);
          assert.ok(answer !== undefined);
          const given = new Simulation(protocol, simulate, true).send(answer);
          const [result, ...more] = given.filter((effect) => effect.type === "commandResult");
          assert.ok(result !== undefined && more.length === 0);
          assert.equal(result.to, expected.name);
        }),
        { numRuns: runs(50) },
      );
    },
  },
];
