import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { MemoryIntake } from "../../test/support/memory-intake.ts";
import type { Effect } from "../model/effects.ts";
import { Conduct } from "./conduct.ts";
import type { Verdict } from "./doorkeeper.ts";
import { Exchange } from "./exchange.ts";
import { defaultLimits } from "./limits.ts";
import { Speaker } from "./speaker.ts";
import type { CloseCause } from "./types.ts";

const limits = { ...defaultLimits, junkBytes: 100, refusedMessages: 3 };
const ping: readonly Effect[] = [{ type: "ignored", reason: "keep-alive" }];
const report: readonly Effect[] = [{ type: "readings", alarms: [], readings: {}, attributes: {} }];
const failure: readonly Effect[] = [{ type: "failure", cause: "malformed" }];

function speakerOf(status: "nobody" | "unknown" | "expired" | "admitted"): Speaker {
  const speaker = new Speaker();
  const intake = new MemoryIntake();
  if (status === "admitted" || status === "expired") intake.register("a", status === "expired");
  const admission = intake.admit(["a"]);
  assert.ok(!(admission instanceof Promise));
  const device = { id: "a", accountKey: 1 };
  const verdict: Verdict = admission.status === "expired" ? { status: "expired", device } : admission;
  if (status !== "nobody") speaker.become(["a"], undefined, verdict);
  return speaker;
}

/** A message of so many bytes, as the session has it judged. */
function judge(conduct: Conduct, speaker: Speaker, effects: readonly Effect[], length: number): CloseCause | undefined {
  const exchange = new Exchange(0);
  exchange.failed = exchange.useless = effects === failure;
  return conduct.verdict(exchange, length, effects, speaker, limits);
}

const piece = fc.record({ effects: fc.constantFrom(ping, report, failure), length: fc.nat(30), noise: fc.nat(30) });

test("who says nothing of who it is may send so many bytes, whatever they are", () => {
  fc.assert(
    fc.property(fc.array(piece, { minLength: 200, maxLength: 300 }), (pieces) => {
      const conduct = new Conduct();
      const speaker = speakerOf("nobody");
      let sent = 0;
      for (const { effects, length, noise } of pieces) {
        conduct.skipped(noise);
        sent += noise + length;
        const cause = judge(conduct, speaker, effects, length);
        if (cause === undefined) continue;
        assert.equal(cause, "junk");
        assert.ok(sent <= limits.junkBytes + 60);
        return;
      }
      assert.fail("not closed");
    }),
  );
});

test("a device's messages make up for the noise before them, its keep-alives for no more than their own length", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 100 }), (pieces) => {
      const conduct = new Conduct();
      const speaker = speakerOf("admitted");
      let junk = 0;
      for (const { effects, length, noise } of pieces) {
        conduct.skipped(noise);
        junk += noise;
        if (effects === report) junk = 0;
        else if (effects === ping) junk = Math.max(0, junk - length);
        else junk += Math.max(1, length);
        const cause = judge(conduct, speaker, effects, length);
        assert.equal(cause, junk > limits.junkBytes ? "junk" : undefined);
        if (cause !== undefined) return;
      }
    }),
  );
});

test("a refused device may send a few messages, for another one of its connection may be known", () => {
  for (const status of ["unknown", "expired"] as const) {
    const conduct = new Conduct();
    const causes = Array.from({ length: 4 }, () => judge(conduct, speakerOf(status), report, 1000));
    assert.deepEqual(causes, [undefined, undefined, undefined, status]);
  }
});
