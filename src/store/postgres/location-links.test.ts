import assert from "node:assert/strict";
import { it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { StoreUnavailable } from "../../ports/store.ts";
import type { Link } from "../locations/calls.ts";
import { WriterGate } from "./location-links.ts";
import type { PostgresWriterCalls } from "./messages.ts";

/** A writer whose calls are answered when the test says so. */
function heldBack() {
  const calls: { readonly name: string; resolve(answer: never): void; reject(error: Error): void }[] = [];
  const writer: Link<PostgresWriterCalls> = {
    call: (name) =>
      new Promise((resolve, reject) => {
        calls.push({ name, resolve, reject });
      }),
  };
  const answer = (name: string, error?: Error) => {
    const at = calls.findIndex((call) => call.name === name);
    assert.ok(at >= 0, `${name} is asked for`);
    const [call] = calls.splice(at, 1);
    if (error === undefined) call?.resolve(null as never);
    else call?.reject(error);
  };
  const gate = new WriterGate({ writer, lock: { held: true }, onTakenOver: () => assert.fail("nobody else writes") });
  return { gate, answer };
}

const lost = new StoreUnavailable("the connection was lost");

/** Tells whether a promise has resolved. */
function watched(promise: Promise<unknown>): () => boolean {
  let done = false;
  void promise.then(() => {
    done = true;
  });
  return () => done;
}

it("everybody who asks waits until a call that was not answered can change nothing any more", async () => {
  const { gate, answer } = heldBack();
  const call = gate.call("purge", []);
  answer("purge", lost);
  await assert.rejects(call, lost);
  const first = watched(gate.settled());
  const second = watched(gate.settled());
  await turn();
  assert.deepEqual([first(), second()], [false, false]);
  answer("stand");
  await turn();
  assert.deepEqual([first(), second()], [true, true]);
});

it("a call that fails while an earlier one is waited for is waited for, too", async () => {
  const { gate, answer } = heldBack();
  const calls = [gate.call("purge", []), gate.call("check", null)];
  answer("purge", lost);
  await assert.rejects(calls[0] ?? Promise.resolve(), lost);
  const settled = watched(gate.settled());
  answer("check", lost);
  await assert.rejects(calls[1] ?? Promise.resolve(), lost);
  answer("stand");
  await turn();
  assert.equal(settled(), false);
  answer("stand");
  await turn();
  assert.equal(settled(), true);
});
