import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ReplyMatcher } from "./reply-matcher.ts";

const write = (matcher: ReplyMatcher<string, string>, ...commands: string[]) => {
  for (const command of commands) matcher.written(command, undefined);
};

test("one command, one reply, early or late; a second reply is nobody's", () => {
  const matcher = new ReplyMatcher<string, string>();
  assert.deepEqual(matcher.replied("stray", undefined), []);
  write(matcher, "a");
  assert.deepEqual(matcher.replied("ra", undefined), [{ command: "a", reply: "ra" }]);
  assert.deepEqual(matcher.replied("again", undefined), []);
  write(matcher, "b");
  assert.deepEqual(matcher.replied("rb", undefined), [{ command: "b", reply: "rb" }]);
  assert.equal(matcher.waits, false);
});

test("a reply that may be an earlier command's is held until the next one tells", () => {
  const matcher = new ReplyMatcher<string, string>();
  write(matcher, "a", "b");
  assert.deepEqual(matcher.replied("first", undefined), []);
  assert.equal(matcher.unclear("b"), "first");
  assert.deepEqual(
    new Set(matcher.replied("second", undefined)),
    new Set([
      { command: "b", reply: "second" },
      { command: "a", reply: "first" },
    ]),
  );
});

test("a reply that was held before a command was written is not that command's", () => {
  const matcher = new ReplyMatcher<string, string>();
  write(matcher, "a", "b");
  matcher.replied("first", undefined);
  write(matcher, "c");
  assert.equal(matcher.unclear("c"), undefined);
  matcher.forget("a");
  assert.equal(matcher.unclear("b"), undefined);
  assert.deepEqual(matcher.commands, ["b", "c"]);
});

test("a name tells whatever the order; an unknown one is nobody's", () => {
  const matcher = new ReplyMatcher<string, string>();
  matcher.written("a", "1");
  matcher.written("b", "2");
  assert.deepEqual(matcher.replied("other", "3"), []);
  assert.deepEqual(matcher.replied("rb", "2"), [{ command: "b", reply: "rb" }]);
  assert.deepEqual(matcher.replied("late", "2"), []);
  assert.deepEqual(matcher.replied("ra", undefined), [{ command: "a", reply: "ra" }]);
});

test("two of one name: the second reply tells", () => {
  const matcher = new ReplyMatcher<string, string>();
  matcher.written("a", "S20");
  matcher.written("b", "S20");
  matcher.written("c", "R1");
  assert.deepEqual(matcher.replied("r", "S20"), []);
  assert.deepEqual(matcher.replied("rc", "R1"), [{ command: "c", reply: "rc" }]);
  assert.equal(matcher.replied("s", "S20").length, 2);
});

test("what is open is bounded: the oldest is given up", () => {
  const matcher = new ReplyMatcher<number, string>();
  for (let command = 0; command < 1000; command++) matcher.written(command, undefined);
  assert.equal(matcher.commands.length, 64);
  assert.equal(matcher.commands[0], 936);
});

/** A tracker that answers some commands, in their order or under their names, whenever it likes. */
const someAction = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("write" as const), name: fc.constantFrom("x", "y"), answers: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.constant({ do: "reply" as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("giveUp" as const), which: fc.nat({ max: 5 }) }) },
);

interface Given {
  readonly id: number;
  readonly name: string | undefined;
}

/** What the commands are called, and whether the replies say it: some clones do not. */
type Naming = "none" | "shared" | "own" | "unspoken";

function property(naming: Naming) {
  return fc.property(fc.array(someAction, { maxLength: 40 }), fc.boolean(), (actions, answersAll) => {
    const matcher = new ReplyMatcher<Given, number>();
    /** Commands that the tracker will answer. */
    let pending: readonly Given[] = [];
    const given = new Map<number, number>();
    let made = 0;
    let silent = false;
    let gaveUp = false;
    for (const action of actions) {
      if (action.do === "write") {
        const id = made++;
        const name =
          naming === "own" || naming === "unspoken" ? String(id) : naming === "shared" ? action.name : undefined;
        const command = { id, name };
        matcher.written(command, name);
        if (action.answers || answersAll) pending = [...pending, command];
        else silent = true;
      } else if (action.do === "reply") {
        const [next] = pending;
        if (next === undefined) continue;
        pending = pending.slice(1);
        const said = naming === "unspoken" ? undefined : next.name;
        for (const { command, reply } of matcher.replied(next.id, said)) {
          assert.ok(!given.has(command.id), "answered twice");
          given.set(command.id, reply);
        }
      } else {
        // Its reply comes no more: that is what giving up means.
        const command = matcher.commands[action.which];
        if (command === undefined) continue;
        gaveUp = true;
        pending = pending.filter((each) => each !== command);
        matcher.forget(command);
      }
    }
    for (const [command, reply] of given) assert.equal(reply, command, "given to another command");
    // Nothing is lost where every command is answered.
    if (silent || gaveUp) return;
    const replied = Array.from({ length: made }, (_, id) => id).filter((id) => !pending.some((each) => each.id === id));
    if (naming === "own" || pending.length === 0) for (const id of replied) assert.ok(given.has(id), `${id} lost`);
  });
}

for (const naming of ["none", "shared", "own", "unspoken"] as const)
  test(`whatever is written, answered and not: no reply is given to another command (names: ${naming})`, () => {
    fc.assert(property(naming), { numRuns: 2000 });
  });
