import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { WaitingDevices } from "./command-waiting.ts";

const devices = ["a", "b", "c", "d", "e"];

type Action =
  | { readonly do: "queue" | "end" | "drain"; readonly device: string }
  | { readonly do: "look" | "answer" | "fail" };

const someAction: fc.Arbitrary<Action> = fc.oneof(
  fc
    .tuple(fc.constantFrom("queue" as const, "end" as const, "drain" as const), fc.constantFrom(...devices))
    .map(([what, device]) => ({ do: what, device })),
  fc.constantFrom("look" as const, "answer" as const, "fail" as const).map((what) => ({ do: what })),
);

test("no device for which a command waits is left out, whatever is added, ended and looked up meanwhile", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someAction, { maxLength: 40 }), async (actions) => {
      const waiting = new Set<string>();
      let open: PromiseWithResolvers<void> | undefined;
      const commands = {
        async waitingDevices(limit: number) {
          // What is read is as it was at some moment of the look: here at its start.
          const found = [...waiting].slice(0, limit);
          open = Promise.withResolvers();
          await open.promise;
          return found;
        },
      };
      const known = new WaitingDevices(commands, 3);
      for (const action of actions) {
        if (action.do === "look") known.look().catch(() => {});
        else if (action.do === "answer") open?.resolve();
        else if (action.do === "fail") open?.reject(new Error("no disk"));
        else if (action.do === "queue" && "device" in action) {
          waiting.add(action.device);
          known.add(action.device);
        } else if ("device" in action) {
          // One that runs out or is cancelled is told to nobody.
          waiting.delete(action.device);
          if (action.do === "drain") known.delete(action.device);
        }
        await new Promise((resolve) => setImmediate(resolve));
        for (const device of waiting) assert.ok(known.has(device), `${device} left out`);
      }
    }),
    { numRuns: 200 },
  );
});

test("others ask nothing; a new look forgets what ended; too many make any possible, until they are fewer", async () => {
  let stored = ["a"];
  const known = new WaitingDevices({ waitingDevices: async (limit) => stored.slice(0, limit) }, 2);
  assert.equal(known.has("x"), true);
  await known.look();
  assert.deepEqual([known.has("a"), known.has("x")], [true, false]);
  known.add("b");
  known.delete("a");
  assert.deepEqual([known.has("a"), known.has("b")], [false, true]);
  stored = [];
  await known.look();
  assert.equal(known.has("b"), false);
  for (const id of ["a", "b", "c"]) known.add(id);
  assert.equal(known.has("x"), true);
  stored = ["a", "b", "c"];
  await known.look();
  assert.equal(known.has("x"), true);
  stored = ["a"];
  await known.look();
  assert.equal(known.has("x"), false);
});
