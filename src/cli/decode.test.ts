import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { sample, sampleDefinition } from "../../test/support/sample-protocol.ts";
import { sampleVectors } from "../../test/support/sample-vectors.ts";
import { defineProtocol } from "../wire/protocol.ts";
import { decodeLines } from "./decode.ts";
import { describeHex } from "./describe.ts";

const login = "2404013132333425";
const heartbeat = "2401035573";
const known = { ids: ["1234"], type: "identify" };
const battery = { type: "readings", alarms: [], readings: { battery: 85 }, attributes: {} };

async function decode(...lines: readonly string[]): Promise<unknown[]> {
  const answers: unknown[] = [];
  for await (const line of decodeLines(
    (async function* () {
      yield* lines;
    })(),
    { protocols: [sample] },
  )) {
    assert.ok(!line.includes("\n"));
    answers.push(JSON.parse(line));
  }
  return answers;
}

describe("decodeLines", () => {
  it("gives a line of effects for each line of vectors", async () => {
    for (const vector of sampleVectors()) {
      const { messages, chunks, device } = vector.input;
      const line = {
        protocol: "sample",
        transport: vector.transport,
        messages: messages.map((bytes) => bytes.toHex()),
        chunks,
        ...(device && { device }),
      };
      assert.deepEqual(await decode(JSON.stringify(line)), [{ protocol: "sample", effects: vector.effects }]);
    }
  });

  it("detects the protocol of messages, of pieces, and of messages whose first is not known", async () => {
    const reply = { type: "reply", bytes: "24000125", when: "identified" };
    assert.deepEqual(await decode(JSON.stringify({ messages: [login] })), [
      { protocol: "sample", effects: [[known, reply]] },
    ]);
    const pieces = { chunks: true, messages: ["24", login.slice(2) + heartbeat] };
    assert.deepEqual(await decode(JSON.stringify(pieces)), [
      { protocol: "sample", effects: [[], [known, reply, battery]] },
    ]);
    assert.deepEqual(await decode(JSON.stringify({ messages: ["", heartbeat], device: "1" })), [
      { protocol: "sample", effects: [[{ type: "failure", cause: "malformed" }], [battery]] },
    ]);
  });

  it("cuts a datagram where the protocol says that it may hold several messages", async () => {
    const several = defineProtocol({ ...sampleDefinition, datagram: sampleDefinition.framer });
    const options = { protocol: "sample", transport: "udp", device: "1", protocols: [several] } as const;
    const described = describeHex(heartbeat + heartbeat, options);
    assert.match(described, /message 2: heartbeat/);
    assert.doesNotMatch(describeHex(heartbeat + heartbeat, { ...options, protocols: [sample] }), /message 2/);
    const line = JSON.stringify({
      protocol: "h02",
      transport: "udp",
      messages: [{ text: "*HQ,1000000001,HTBT#*HQ,1000000001,HTBT#" }],
    });
    const one = JSON.stringify({ protocol: "h02", transport: "udp", messages: [{ text: "*HQ,1000000001,HTBT#" }] });
    const effectsOf = async (text: string) => {
      const lines: string[] = [];
      for await (const answer of decodeLines(
        (async function* () {
          yield text;
        })(),
      ))
        lines.push(answer);
      return JSON.parse(lines[0] ?? "").effects[0];
    };
    const [single, both] = [await effectsOf(one), await effectsOf(line)];
    assert.deepEqual(both, [...single, ...single.filter((effect: { type: string }) => effect.type !== "identify")]);
  });

  it("takes text, blanks in hex, and passes over blank lines", async () => {
    const line = { protocol: "sample", messages: [{ text: "$\u0001\u0003Us" }, "24 01 03 55 73"] };
    assert.deepEqual(await decode("", JSON.stringify(line), "  "), [
      { protocol: "sample", effects: [[battery], [battery]] },
    ]);
  });

  it("says what is wrong with a line, and goes on", async () => {
    const wrong: readonly [string, RegExp][] = [
      ["{", /^not JSON/],
      ["[]", /not a JSON object/],
      ["{}", /"messages" must be a list/],
      ['{"messages":["2"]}', /message 1 must be hex/],
      ['{"messages":["ff"]}', /no protocol knows/],
      ['{"messages":[]}', /no protocol knows/],
      ['{"protocol":"x","messages":[]}', /unknown protocol "x"; known: sample/],
      ['{"protocol":"sample","transport":"http","messages":[]}', /does not come over http, but over tcp, udp/],
      ['{"protocol":"sample","transport":"smtp","messages":[]}', /"transport" must be/],
      ['{"protocol":"sample","messages":[],"chunks":1}', /"chunks" must be/],
      ['{"protocol":"sample","messages":[],"receivedAt":"soon"}', /"receivedAt" must be/],
      ['{"protocol":"sample","messages":[],"options":{"model":1}}', /"model" must be/],
    ];
    const answers = await decode(...wrong.map(([line]) => line), JSON.stringify({ messages: [login] }));
    for (const [index, [line, pattern]] of wrong.entries()) {
      const answer = answers[index];
      assert.ok(typeof answer === "object" && answer !== null && "error" in answer && "line" in answer, line);
      assert.match(String(answer.error), pattern, line);
      assert.equal(answer.line, index + 1);
    }
    assert.equal(answers.length, wrong.length + 1);
  });

  it("answers any line with one line", async () => {
    const field = fc.constantFrom("protocol", "transport", "messages", "chunks", "device", "options", "receivedAt");
    const any = fc.oneof(
      fc.string(),
      fc.dictionary(field, fc.jsonValue()).map((value) => JSON.stringify(value)),
    );
    await fc.assert(
      fc.asyncProperty(any, async (line) => {
        assert.equal((await decode(line)).length, line.trim() === "" ? 0 : 1);
      }),
    );
  });
});

describe("describeHex", () => {
  it("shows every message with its row and effects", () => {
    assert.equal(
      describeHex(`${login} ff ${heartbeat}\n2401`, { protocols: [sample] }),
      `sample: Sample, over tcp

message 1: login, 8 bytes
  2404013132333425
    identify   ids 1234
    reply      bytes 24000125  when identified

message 2: heartbeat, 5 bytes
  2401035573
    readings
      battery              85

1 bytes belong to no message (no start).

2 bytes at the end begin a message that is not whole.
`,
    );
  });

  it("reads bytes that hold no whole message as one", () => {
    const shown = describeHex("2409035573", { protocols: [sample], device: "1" });
    assert.match(shown, /heartbeat, 5 bytes/);
    assert.match(shown, /No whole message was cut/);
  });

  it("reads as the device's tag format says", () => {
    const located = "7e0200001c012345678901002a0000000000000003030c1a1800d19ea4002a0190005a2602031205068e7e";
    const [beijing, utc] = [{}, { format: "UTC" }].map((options) => describeHex(located, options));
    assert.match(beijing ?? "", /2026-02-03T04:05:06/);
    assert.match(utc ?? "", /2026-02-03T12:05:06/);
  });

  it("takes no protocol for what says nothing, and passes over line ends before the first message", () => {
    for (const hex of ["00", "0000", "0d0a", "7e"]) assert.throws(() => describeHex(hex), /no protocol/, hex);
    assert.match(describeHex("0d0a78780d0103500000000000170001ca070d0a"), /^gt06: /);
  });

  it("refuses what is no hex or no protocol", () => {
    assert.throws(() => describeHex("xyz", { protocols: [sample] }), /not hex/);
    assert.throws(() => describeHex("", { protocols: [sample] }), /not hex/);
    assert.throws(() => describeHex("ff", { protocols: [sample] }), /no protocol/);
  });
});
