import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../test/support/silent-log.ts";
import type { Unfollowed } from "../ports/positions.ts";
import { Taking } from "./taking.ts";

/** What is asked, and how each question ends. */
function asked(answers: readonly (Promise<void> | Error)[]) {
  const questions: string[] = [];
  const taken: number[] = [];
  const positions = {
    async *unfollowed(how: "all" | "new"): AsyncGenerator<Unfollowed, void, undefined> {
      const answer = answers[questions.push(how) - 1];
      if (answer instanceof Error) throw answer;
      await answer;
      yield { place: questions.length, spans: [] };
    },
  };
  const taking = new Taking({
    ...{ positions, processes: { others: [] }, log: silentLog },
    take: ({ place }) => taken.push(place),
  });
  return { taking, questions, taken };
}

test("all who ask while a question is under way share the next one, which sees what was appended before", async () => {
  const first = Promise.withResolvers<void>();
  const { taking, questions, taken } = asked([first.promise]);
  const one = taking.now("new");
  await new Promise((resolve) => setImmediate(resolve));
  const others = [taking.now("new"), taking.now("all"), taking.now("new")];
  assert.deepEqual(questions, ["new"]);
  first.resolve();
  await Promise.all([one, ...others]);
  assert.deepEqual(questions, ["new", "all"]);
  assert.deepEqual(taken, [1, 2]);
});

test("it is complete when everything is taken that it was asked for, also after a failure", async () => {
  const first = Promise.withResolvers<void>();
  const { taking } = asked([first.promise, new Error("no answer")]);
  const seen = [taking.isComplete];
  const one = taking.now("all");
  await new Promise((resolve) => setImmediate(resolve));
  const two = taking.now("all");
  first.resolve();
  await one;
  seen.push(taking.isComplete);
  await assert.rejects(two, /no answer/);
  seen.push(taking.isComplete);
  await taking.now("new");
  assert.deepEqual([...seen, taking.isComplete], [true, false, false, true]);
});

test("after a failure it looks everywhere, since an answer may be lost", async () => {
  const { taking, questions } = asked([new Error("no answer")]);
  await assert.rejects(taking.now("new"), /no answer/);
  await taking.over;
  await taking.now("new");
  assert.deepEqual(questions, ["new", "all"]);
});
