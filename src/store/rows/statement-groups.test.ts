import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { CompiledQuery } from "kysely";
import { StoreUnavailable } from "../../ports/store.ts";
import { type RunTogether, StatementGroups } from "./statement-groups.ts";

/** Groups whose statements go into `written`, and whose rests end when the test says so. */
function groupsOf(together?: RunTogether) {
  const written: string[][] = [];
  const rests: (() => void)[] = [];
  const write: RunTogether = async (statements) => {
    written.push(statements.map(({ sql }) => sql));
    return together === undefined ? statements.map(() => 1) : together(statements);
  };
  const groups = new StatementGroups(write, () => new Promise((resolve) => rests.push(resolve)));
  const ask = (...texts: string[]) =>
    groups.run(
      0,
      texts.map((text) => CompiledQuery.raw(text)),
    );
  return { written, rests, ask };
}

async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await nextTurn();
}

test("what is asked for in one turn goes together, at once", async () => {
  const { written, ask } = groupsOf();
  assert.deepEqual(await Promise.all([ask("a"), ask("b", "c")]), [[1], [1, 1]]);
  assert.deepEqual(written, [["a", "b", "c"]]);
});

test("what is asked for in a rest goes together after it, and after a rest in which nobody asked the next goes at once", async () => {
  const { written, rests, ask } = groupsOf();
  await ask("a");
  const second = ask("b");
  await someTurns();
  const third = ask("c");
  await someTurns();
  assert.deepEqual(written, [["a"]]);
  rests.shift()?.();
  await Promise.all([second, third]);
  assert.deepEqual(written, [["a"], ["b", "c"]]);
  rests.shift()?.();
  await someTurns();
  await ask("d");
  assert.deepEqual(written.at(-1), ["d"]);
});

test("the steps of a group run in the order of their places, and those with the same place in the order of the calls", async () => {
  const written: string[] = [];
  const groups = new StatementGroups(async (statements) => {
    written.push(...statements.map(({ sql }) => sql));
    return statements.map(({ sql }) => Number(sql));
  });
  const asked = [30, 10, 31, 20, 11].map((number) =>
    groups.run(Math.floor(number / 10), [CompiledQuery.raw(String(number))]),
  );
  assert.deepEqual(await Promise.all(asked), [[30], [10], [31], [20], [11]]);
  assert.deepEqual(written, ["10", "11", "20", "30", "31"]);
});

test("a group has an end", async () => {
  const { written, rests, ask } = groupsOf();
  const asked = Array.from({ length: 150 }, (_, index) => ask(String(index)));
  await someTurns();
  assert.deepEqual([written.length, written[0]?.length], [1, 100]);
  rests.shift()?.();
  await Promise.all(asked);
  assert.deepEqual(
    written.flat(),
    Array.from({ length: 150 }, (_, index) => String(index)),
  );
});

test("a group that fails because of one step is done again step by step; one of which nothing is known is not", async () => {
  const damaged = groupsOf(async (statements) => {
    if (statements.some(({ sql }) => sql === "b")) throw new Error("malformed");
    return statements.map(() => 1);
  });
  const [one, two, three] = await Promise.allSettled([damaged.ask("a"), damaged.ask("b"), damaged.ask("c")]);
  assert.deepEqual([one.status, two.status, three.status], ["fulfilled", "rejected", "fulfilled"]);

  const lost = groupsOf(() => Promise.reject(new StoreUnavailable("the worker ended")));
  const settled = await Promise.allSettled([lost.ask("a"), lost.ask("b")]);
  assert.deepEqual(
    settled.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  assert.equal(lost.written.length, 1);
});
