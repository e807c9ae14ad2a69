import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { problemsOfModules } from "../scripts/generators/protocol-modules.ts";

test("gen names the file and the field of each protocol module that is not whole", async (context) => {
  const root = mkdtempSync(join(tmpdir(), "waybeam-gen-"));
  context.after(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, "src/protocols/folder"), { recursive: true });
  const whole = "title: 't', transports: [], defaultPort: 1, manuals: [], detect() {}, framer() {}";
  for (const [file, text] of [
    ["whole.ts", `export const whole = { id: "whole", ${whole} };`],
    ["half.ts", `export const half = { id: "half", ${whole.replace("manuals: [], ", "")} };`],
    ["other.ts", `export const another = { id: "other", ${whole} };`],
    ["folder/index.ts", "throw new Error('not yet');"],
  ] as const)
    writeFileSync(join(root, "src/protocols", file), text);
  assert.deepEqual(await problemsOfModules(root), [
    "src/protocols/folder/index.ts: it can't be loaded: not yet",
    "src/protocols/half.ts: the field `manuals` is missing",
    "src/protocols/other.ts: it must export `other`, a protocol with that id",
  ]);
});
