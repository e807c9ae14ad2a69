import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { PatchRequest } from "../contract/patch.ts";
import { ApiError } from "../errors/catalogue.ts";
import { patched } from "./json-patch.ts";

const document = {
  id: "a1",
  name: "Truck",
  description: null,
  tags: { plate: "X", "a/b": "1", "c~d": "2" },
  aliases: ["x", "y"],
};
const writable = new Set(["name", "description", "tags", "aliases"]);
const run = (...steps: PatchRequest) => patched(document, steps, writable);

function refuses(code: "invalidPatch" | "patchTestFailed", ...steps: PatchRequest) {
  assert.throws(
    () => run(...steps),
    (error) => error instanceof ApiError && error.code === code,
    JSON.stringify(steps),
  );
}

test("all six operations", () => {
  assert.equal(run({ op: "replace", path: "/name", value: "Van" }).name, "Van");
  assert.deepEqual(run({ op: "add", path: "/tags/color", value: "red" }).tags, { ...document.tags, color: "red" });
  assert.equal("description" in run({ op: "remove", path: "/description" }), false);
  assert.deepEqual(run({ op: "move", from: "/tags/plate", path: "/tags/sign" }).tags, {
    "a/b": "1",
    "c~d": "2",
    sign: "X",
  });
  assert.equal(run({ op: "copy", from: "/id", path: "/name" }).name, "a1");
  assert.deepEqual(run({ op: "test", path: "/id", value: "a1" }), document);
  assert.deepEqual(run({ op: "test", path: "", value: document }), document);
});

test("arrays and escapes", () => {
  assert.deepEqual(run({ op: "add", path: "/aliases/-", value: "z" }).aliases, ["x", "y", "z"]);
  assert.deepEqual(run({ op: "add", path: "/aliases/0", value: "z" }).aliases, ["z", "x", "y"]);
  assert.deepEqual(run({ op: "add", path: "/aliases/2", value: "z" }).aliases, ["x", "y", "z"]);
  assert.deepEqual(run({ op: "move", from: "/aliases/0", path: "/aliases/1" }).aliases, ["y", "x"]);
  assert.deepEqual(run({ op: "remove", path: "/tags/a~1b" }).tags, { plate: "X", "c~d": "2" });
  assert.deepEqual(run({ op: "replace", path: "/tags/c~0d", value: "3" }).tags, { ...document.tags, "c~d": "3" });
});

test("a test of what an operation before it has nested deeply: equal, or refused for its depth, and nothing else", () => {
  for (let depth = 1000; depth <= 8000; depth += 500) {
    const deep = (): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));
    try {
      run({ op: "add", path: "/description", value: deep() }, { op: "test", path: "/description", value: deep() });
    } catch (error) {
      assert.ok(error instanceof ApiError && error.code === "invalidPatch", `${depth}: ${error}`);
    }
  }
});

test("zero is zero with either sign", () => {
  const steps: PatchRequest = [
    { op: "replace", path: "/description", value: 0 },
    { op: "test", path: "/description", value: -0 },
  ];
  assert.equal(run(...steps).description, 0);
});

test("a test that does not hold", () => {
  refuses("patchTestFailed", { op: "test", path: "/name", value: "Van" });
  refuses("patchTestFailed", { op: "test", path: "/tags/none", value: "Van" });
  refuses(
    "patchTestFailed",
    { op: "replace", path: "/name", value: "Van" },
    { op: "test", path: "/name", value: "Truck" },
  );
});

test("malformed operations, unknown paths and read-only targets", () => {
  for (const step of [
    { op: "replace", path: "/id", value: "b" },
    { op: "remove", path: "/id" },
    { op: "move", from: "/id", path: "/name" },
    { op: "copy", from: "/name", path: "/id" },
    { op: "replace", path: "", value: {} },
    { op: "add", path: "/unknown", value: 1 },
    { op: "test", path: "/unknown", value: 1 },
    { op: "remove", path: "/tags/none" },
    { op: "replace", path: "/tags/none", value: "1" },
    { op: "add", path: "/name" },
    { op: "replace", path: "/name" },
    { op: "test", path: "/name" },
    { op: "move", path: "/name" },
    { op: "copy", path: "/name" },
    { op: "copy", from: "/tags/none", path: "/name" },
    { op: "add", path: "name", value: "1" },
    { op: "add", path: "/tags/a~2", value: "1" },
    { op: "add", path: "/name/x", value: "1" },
    { op: "add", path: "/description/x", value: "1" },
    { op: "add", path: "/aliases/3", value: "1" },
    { op: "add", path: "/aliases/01", value: "1" },
    { op: "add", path: "/aliases/x", value: "1" },
    { op: "replace", path: "/aliases/x", value: "1" },
    { op: "replace", path: "/aliases/-", value: "1" },
    { op: "replace", path: "/aliases/2", value: "1" },
    { op: "remove", path: "/aliases/-" },
    { op: "remove", path: "/aliases/2" },
    { op: "move", from: "/aliases/0", path: "/aliases/2" },
    { op: "move", from: "/tags", path: "/tags/plate" },
    { op: "add", path: "/__proto__/polluted", value: true },
    { op: "add", path: "/tags/__proto__", value: { polluted: true } },
    { op: "add", path: "/tags/constructor/prototype", value: true },
  ] satisfies PatchRequest)
    refuses("invalidPatch", step);
});

test("any patch gives a document or an ApiError, and leaves the document and JavaScript as they were", () => {
  const pointer = fc.oneof(
    fc.constantFrom("", "/", "/id", "/name", "/tags", "/tags/plate", "/aliases/0", "/aliases/-", "/tags/__proto__/x"),
    fc.string().map((text) => `/${text}`),
  );
  const step = fc.record(
    {
      op: fc.constantFrom(
        "add" as const,
        "remove" as const,
        "replace" as const,
        "move" as const,
        "copy" as const,
        "test" as const,
      ),
      path: pointer,
      from: pointer,
      value: fc.jsonValue(),
    },
    { requiredKeys: ["op", "path"] },
  );
  const before = structuredClone(document);
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
      try {
        assert.equal(patched(document, steps, writable).id, "a1");
      } catch (error) {
        assert.ok(error instanceof ApiError, String(error));
      }
      assert.deepEqual(document, before);
      assert.deepEqual(Object.keys(Object.prototype), []);
    }),
  );
});

test("copies that double the document with each step are refused before they fill the memory", () => {
  const steps = Array.from({ length: 1000 }, (_, index) => ({
    op: "copy" as const,
    from: "/tags",
    path: `/tags/k${index}`,
  }));
  assert.throws(
    () => patched({ tags: { first: "1" } }, steps, new Set(["tags"])),
    (error) => error instanceof ApiError && error.code === "invalidPatch",
  );
});

test("copies of one long text are refused before the result takes seconds to check", () => {
  const copies = Array.from({ length: 990 }, (_, index) => ({
    op: "copy" as const,
    from: "/tags/long",
    path: `/tags/t${index}`,
  }));
  refuses("invalidPatch", { op: "add", path: "/tags/long", value: "x".repeat(900_000) }, ...copies);
  refuses("invalidPatch", { op: "add", path: "/tags/long", value: { ["x".repeat(900_000)]: 1 } }, ...copies);
  assert.equal(
    Object.keys(Object(run({ op: "add", path: "/tags/long", value: "x".repeat(900) }, ...copies).tags)).length,
    994,
  );
});

test("a test of long lists takes no more than a look at each value", () => {
  const devices = Array.from({ length: 15_000 }, (_, index) => `device-${index}`);
  const others = devices.map((id) => `${id}x`);
  const steps = [{ op: "test" as const, path: "/devices", value: others }];
  // An edit distance of these would take gigabytes; a comparison ends at the first difference.
  assert.throws(
    () => patched({ devices }, steps, new Set(["devices"])),
    (error) => error instanceof ApiError && error.code === "patchTestFailed",
  );
});

test("a test of what is not there is no such path, and of a member order is equal", () => {
  const document = { tags: { a: "1", b: "2" } };
  const step = (path: string, value: unknown) => [{ op: "test" as const, path, value }];
  assert.deepEqual(patched(document, step("/tags", { b: "2", a: "1" }), new Set(["tags"])), document);
  assert.throws(() => patched(document, step("/tags/c", "3"), new Set(["tags"])), ApiError);
});

test("a test that does not hold says of which place", () => {
  for (const [path, place] of [
    ["/name", "/name"],
    ["", "the document"],
  ] as const)
    assert.throws(
      () => run({ op: "test", path, value: 1 }),
      (error) =>
        error instanceof ApiError &&
        error.code === "patchTestFailed" &&
        error.details.join() === `body/0: ${place} has another value`,
    );
});

test("the path of a test that does not hold is told in part where it is very long", () => {
  const path = `/tags/${"x".repeat(500_000)}`;
  assert.throws(
    () => patched({ tags: {} }, [{ op: "test", path, value: 1 }], new Set(["tags"])),
    (error) => error instanceof ApiError && error.code === "patchTestFailed" && error.details.join("").length < 300,
  );
});
