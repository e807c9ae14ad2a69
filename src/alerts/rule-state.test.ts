import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { holding, idle, type Phase, raised } from "./machine.ts";
import { encodeState, entriesOf, parsed, type RuleState, type StateEntry } from "./rule-state.ts";

/** Records as JSON has them. */
function plain<T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> {
  return fc.record(model, { noNullPrototype: true });
}

const moments = fc.integer({ min: 0, max: 4_000_000_000_000 });
const numbers = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? 0 : value));
const facts = fc.dictionary(fc.string(), fc.oneof(fc.string(), numbers, fc.boolean()), { noNullPrototype: true });
const states: fc.Arbitrary<RuleState> = plain({
  phase: fc.constantFrom<Phase>(idle, holding, raised),
  since: moments,
  firedAt: moments,
  level: fc.boolean(),
  conditions: fc.integer({ min: 0, max: 65_535 }),
  memory: fc.array(numbers, { maxLength: 12 }),
  facts: fc.option(facts, { nil: undefined }),
})
  // What stands raised has evidence, if only none.
  .map((state) => ({ ...state, facts: state.phase === raised ? (state.facts ?? {}) : state.facts }));
const entries: fc.Arbitrary<StateEntry[]> = fc.array(plain({ ruleKey: fc.nat(), judged: fc.nat(), state: states }), {
  maxLength: 8,
});

function textOf(list: readonly StateEntry[]): string {
  return `[${list.map(encodeState).join()}]`;
}

function read(text: string): readonly StateEntry[] {
  return entriesOf(parsed(text));
}

test("states come back from their text as they were", () => {
  fc.assert(fc.property(entries, (list) => assert.deepEqual(read(textOf(list)), list)));
});

test("any text gives states, and what they are written to gives the same", () => {
  const texts = fc.oneof(
    fc.string(),
    fc.json(),
    fc.json().map((json) => `[${json}]`),
    entries.map(textOf),
  );
  fc.assert(
    fc.property(texts, fc.nat(), fc.string({ maxLength: 1 }), (text, at, other) => {
      const broken = text.slice(0, at % (text.length + 1)) + other + text.slice((at % (text.length + 1)) + 1);
      for (const one of [text, broken]) {
        // Compared as they are written: a text may have a minus zero, which JSON does not write.
        const written = textOf(read(one));
        assert.equal(textOf(read(written)), written);
      }
    }),
  );
});

test("a number that no double holds is no evidence", () => {
  const [entry] = read('[[0,0,2,0,0,0,[],{"speed":-1e1151,"zone":"Depot"}]]');
  assert.deepEqual(entry?.state.facts, { zone: "Depot" });
});
