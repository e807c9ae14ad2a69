import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { silentLog } from "../../../../test/support/silent-log.ts";
import { type StoreTrouble, StoreUnavailable } from "../../../ports/store.ts";
import { EngineError } from "../../failures.ts";
import { WorkerLink } from "./worker-link.ts";

interface Calls {
  readonly double: { readonly request: number; readonly answer: number };
  readonly fail: { readonly request: StoreTrouble | undefined; readonly answer: null };
  readonly die: { readonly request: null; readonly answer: null };
  readonly close: { readonly request: null; readonly answer: null };
}

/** A worker that doubles, fails, or dies. */
const file = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from "node:worker_threads";
    parentPort.on("message", ({ id, name, request }) => {
      if (name === "die") process.exit(3);
      if (name === "fail") parentPort.postMessage({ id, failure: { message: "no", trouble: request, code: 1 } });
      else parentPort.postMessage({ id, answer: name === "double" ? request * 2 : null });
      if (name === "close") parentPort.close();
    });
  `)}`,
);

describe("WorkerLink", () => {
  it("answers calls, tells what is unavailable from what is wrong, and starts a worker that died again", async () => {
    const link = new WorkerLink<Calls>({ name: "test", file, heapMb: 16 }, "none", silentLog);
    assert.deepEqual(await Promise.all([1, 2, 3].map((value) => link.call("double", value))), [2, 4, 6]);
    for (const trouble of ["down", "damaged", "exhausted"] as const)
      await assert.rejects(link.call("fail", trouble), StoreUnavailable);
    await assert.rejects(link.call("fail", undefined), EngineError);
    const lost = [link.call("die", null), link.call("double", 1)];
    for (const call of lost) await assert.rejects(call, StoreUnavailable);
    assert.equal(await link.call("double", 21), 42);
    await link.close(() => link.call("close", null));
    await assert.rejects(link.call("double", 1), StoreUnavailable);
    await link.close(() => link.call("close", null));
  });
});
