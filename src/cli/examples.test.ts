import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";
import type { Command } from "commander";
import { protocols } from "../protocols/index.ts";
import { readStory } from "../simulator/index.ts";
import { makeProgram } from "./program.ts";

const docs = join(import.meta.dirname, "../../docs");
const program = makeProgram({
  terminal: {
    input: Readable.from([]),
    out: () => Promise.resolve(),
    err: () => {},
    outIsTty: false,
    errIsTty: false,
    columns: 100,
  },
  env: {},
  clock: { now: () => 0, monotonic: () => 0 },
  interrupted: new AbortController().signal,
  version: "",
  readConfig: () => Promise.reject(new Error("not asked")),
  startService: () => Promise.reject(new Error("not asked")),
  rotateSecret: () => Promise.reject(new Error("not asked")),
  backup: () => Promise.reject(new Error("not asked")),
  restore: () => Promise.reject(new Error("not asked")),
  check: () => Promise.reject(new Error("not asked")),
  moveStore: () => Promise.reject(new Error("not asked")),
});

function page(name: string): string {
  return readFileSync(join(docs, name), "utf8");
}

/** What is wrong with a command line as it is written down: a command or an option that there is not. */
function problemOf(line: string): string | undefined {
  const [command = "", ...words] = line.split(/\s+/);
  assert.match(command, /waybeam$/);
  let at: Command = program;
  for (const word of words) {
    const next = at.commands.find((each) => each.name() === word);
    if (next === undefined) break;
    at = next;
  }
  if (at === program || at.commands.length > 0) return `no such command: ${line}`;
  const known = new Set([...program.options, ...at.options].map(({ long }) => long));
  const wrong = words.find((word) => word.startsWith("--") && !known.has(word));
  return wrong && `no option ${wrong}: ${line}`;
}

test("commands on the pages about alerts and the simulator, and in all examples of help, are as the program has them", () => {
  const shells = ["alerts.md", "simulator.md"].flatMap((name) =>
    [...page(name).matchAll(/^```sh\n(.*?)^```/gms)].flatMap(([, block = ""]) => block.trim().split("\n")),
  );
  const help = [...page("generated/cli.md").matchAll(/^Examples:\n((?: {2}.*\n)+)/gm)].flatMap(([, block = ""]) =>
    block.split("\n").map((line) => line.trim()),
  );
  const lines = [...shells, ...help].map((line) =>
    line.replace(/^.*\| (?=waybeam)|^\w+=\S+ (?=waybeam)| (\||>|<) .*$/g, ""),
  );
  const commands = lines.filter((line) => /^(\.\/)?waybeam /.test(line));
  assert.ok(commands.length > 60);
  assert.deepEqual(
    commands.map(problemOf).filter((problem) => problem !== undefined),
    [],
  );
});

test("the story on the simulator's page can be played", () => {
  const [, story = ""] = /^```json\n(.*?)^```/ms.exec(page("simulator.md")) ?? [];
  const read = readStory(JSON.parse(story), protocols);
  assert.ok("story" in read, "problems" in read ? read.problems.join("\n") : "");
  assert.equal(read.story.length, 20 * 60_000);
});
