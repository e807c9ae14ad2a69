import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { defineProtocol, type MessageRow, type Protocol } from "../../src/wire/protocol.ts";
import { type SampleSession, sample, sampleDefinition } from "../support/sample-protocol.ts";
import { sampleVectors } from "../support/sample-vectors.ts";
import { protocolChecks, protocolContract } from "./protocol.contract.ts";

protocolContract(sample, sampleVectors());

/** Titles of the checks that a broken protocol fails. */
function failures(definition: Protocol<SampleSession>): readonly string[] {
  const protocol = defineProtocol(definition);
  return protocolChecks
    .filter((check) => fails(() => check.run(protocol, sampleVectors())))
    .map((check) => check.title);
}

function fails(run: () => void): boolean {
  try {
    run();
    return false;
  } catch {
    return true;
  }
}

function assertFails(definition: Protocol<SampleSession>, title: RegExp): void {
  const found = failures(definition);
  assert.ok(
    found.some((failed) => title.test(failed)),
    `failed: ${found.join("; ") || "none"}`,
  );
}

/** The sample protocol with each row changed. */
function withRows(change: (row: MessageRow<SampleSession>) => MessageRow<SampleSession>): Protocol<SampleSession> {
  return { ...sampleDefinition, messages: sampleDefinition.messages.map(change) };
}

describe("the contract suite finds", () => {
  it("a row without a vector", () => {
    const row: MessageRow<SampleSession> = {
      name: "unseen",
      keys: [9],
      handle: (_, session) => ({ session, effects: [] }),
    };
    assertFails({ ...sampleDefinition, messages: [...sampleDefinition.messages, row] }, /every row/);
  });

  it("a checksum that is not always compared", () => {
    const careless = withRows((row) => ({
      ...row,
      handle(frame, session, context) {
        const decoded = row.handle(frame, session, context);
        if (frame[0] !== 0x24 || row.name !== "login" || frame[4] === 0x33) return decoded;
        return { session, effects: [{ type: "ignored", reason: "careless" }] };
      },
    }));
    assertFails(careless, /rejects it where a checksum/);
  });

  it("a reply that is a view of the input", () => {
    const lazy = withRows((row) => ({
      ...row,
      handle(frame, session, context) {
        const { effects, session: next } = row.handle(frame, session, context);
        return {
          session: next,
          effects: effects.map((effect) =>
            effect.type === "reply" ? { ...effect, bytes: frame.subarray(0, 1) } : effect,
          ),
        };
      },
    }));
    assertFails(lazy, /keeps nothing of it/);
  });

  it("a handler that writes into its input", () => {
    const rude = withRows((row) => ({
      ...row,
      handle(frame, session, context) {
        const decoded = row.handle(frame, session, context);
        frame[0] = 0;
        return decoded;
      },
    }));
    assertFails(rude, /changes no input/);
  });

  it("an attribute with the name of a reading, or of what the service adds itself", () => {
    for (const name of ["battery", "receivedAt"]) {
      const confusing = withRows((row) => ({
        ...row,
        handle(frame, session, context) {
          const { effects, session: next } = row.handle(frame, session, context);
          if (effects[0]?.type !== "failure") return { session: next, effects };
          return { session, effects: [{ type: "readings", alarms: [], readings: {}, attributes: { [name]: 1 } }] };
        },
      }));
      assertFails(confusing, /flipped bit/);
    }
  });

  it("a value that no map can show", () => {
    const wild = withRows((row) => ({
      ...row,
      handle(frame, session, context) {
        const { effects, session: next } = row.handle(frame, session, context);
        if (effects[0]?.type !== "failure") return { session: next, effects };
        const fix = { type: "fix", time: 0, valid: true, latitude: Number.POSITIVE_INFINITY, longitude: 0 } as const;
        return { session, effects: [{ ...fix, alarms: [], readings: {}, attributes: {} }] };
      },
    }));
    assertFails(wild, /flipped bit/);
  });

  it("a framer that depends on how the stream was cut", () => {
    const { framer } = sampleDefinition;
    const eager = { ...framer, next: (buffer: Uint8Array) => framer.next(buffer, 0) };
    assertFails({ ...sampleDefinition, framer: eager }, /however the stream is cut/);
  });

  it("a datagram whose messages lose their place", () => {
    const { framer } = sampleDefinition;
    const datagram = { ...framer, next: (buffer: Uint8Array) => framer.next(buffer, 0) };
    assertFails({ ...sampleDefinition, datagram }, /of one datagram/);
  });

  it("a framer that makes no way", () => {
    const stuck = { ...sampleDefinition.framer, next: () => ({ type: "skip", length: 0, reason: "stuck" }) as const };
    assertFails({ ...sampleDefinition, framer: stuck }, /endures junk/);
  });

  it("a framer that wants ever more", () => {
    const greedy = { maximum: Number.MAX_SAFE_INTEGER, next: () => ({ type: "more" }) as const };
    assertFails({ ...sampleDefinition, framer: greedy }, /endures junk/);
  });

  it("a detection that needs more than the first byte to say maybe", () => {
    assertFails({ ...sampleDefinition, detect: (bytes) => (bytes.length > 2 ? "sure" : "no") }, /recognised/);
  });

  it("a simulated device that says something else", () => {
    const { simulate } = sampleDefinition;
    assert.ok(simulate);
    assertFails(
      {
        ...sampleDefinition,
        simulate: { ...simulate, report: (id, reports, serial) => simulate.report(id, reports.slice(1), serial) },
      },
      /simulated device/,
    );
  });

  it("a command whose text breaks out of its frame", () => {
    const { simulate } = sampleDefinition;
    assert.ok(simulate?.login);
    const twice = Uint8Array.of(...simulate.login("1", 1), ...simulate.login("2", 2));
    assertFails({ ...sampleDefinition, commands: [{ name: "text", encode: () => twice }] }, /one message of its own/);
  });
});
