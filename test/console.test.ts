import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, it } from "node:test";
import { alertStates } from "../src/contract/alert.ts";
import { alertTypes } from "../src/contract/alert-parameters.ts";
import { errorKinds } from "../src/errors/catalogue.ts";

const root = join(import.meta.dirname, "..");
const longestFile = 300;

interface Source {
  readonly path: string;
  readonly text: string;
}

const sources: readonly Source[] = readdirSync(join(root, "console"), { recursive: true, encoding: "utf8" })
  .filter((name) => /\.(ts|svelte)$/.test(name) && !name.startsWith("dist/") && name !== "api/schema.ts")
  .map((name) => ({ path: `console/${name}`, text: readFileSync(join(root, "console", name), "utf8") }));

/** Lines that match, as "path: line". */
function lines(pattern: RegExp, files: readonly Source[] = sources): readonly string[] {
  return files.flatMap(({ path, text }) =>
    text
      .split("\n")
      .filter((line) => pattern.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  );
}

describe("the console", () => {
  it("imports nothing of the service but types of its contract: the API is all that it knows", () => {
    const outside = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/(import|export)\s+(type\s)?[^"';]*?from\s+"(\.[^"]+)"/g)]
        .map(([, , type, target = ""]) => ({ type, target: relative(root, join(root, dirname(path), target)) }))
        .filter(({ type, target }) => !target.startsWith("console/") && !(type && target.startsWith("src/contract/")))
        .map(({ target }) => `${path} -> ${target}`),
    );
    const ofTheBuild = ["cities", "icons", "pages-file"].map(
      (name) => `console/vite.config.ts -> scripts/console/${name}.ts`,
    );
    assert.deepEqual(outside.toSorted(), ofTheBuild);
  });

  it("makes no HTML of texts, and writes no style or script into the page", () => {
    assert.deepEqual(lines(/\{@html|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/), []);
    assert.deepEqual(lines(/\sstyle="/), []);
  });

  it("shows texts of people in one way", () => {
    const others = sources.filter(({ path }) => path !== "console/ui/Shown.svelte");
    assert.deepEqual(lines(/<bdi\b/, others), []);
  });

  it(`has files of at most ${longestFile} lines`, () => {
    const long = sources.filter(({ text }) => text.split("\n").length - 1 > longestFile);
    assert.deepEqual(
      long.map(({ path, text }) => `${path}: ${text.split("\n").length - 1}`),
      [],
    );
  });

  it("has words for every error of the service, and for every state and type that it names", () => {
    const words: Readonly<Record<string, string>> = JSON.parse(
      readFileSync(join(root, "console/words/en.json"), "utf8"),
    );
    const wanted = [
      ...Object.values(errorKinds).map(({ text }) => `error.${text}`),
      ...alertTypes.map((type) => `ruleType.${type}`),
      ...alertStates.map((state) => `alertState.${state}`),
    ];
    assert.deepEqual(
      wanted.filter((key) => !(key in words)),
      [],
    );
  });

  it("writes no text that a translation would miss", () => {
    const components = sources.filter(({ path }) => path.endsWith(".svelte"));
    const markup = components.map(({ path, text }) => ({
      path,
      text: text.replaceAll(/<(script|style)[\s\S]*?<\/\1>/g, "").replaceAll(/\{[^{}]*\}/g, ""),
    }));
    assert.deepEqual(lines(/>\s*[A-Z][a-z]+ [a-z]+/, markup), []);
    assert.deepEqual(
      lines(
        /(aria-label|title|placeholder|alt)="(?!Waybeam)[A-Za-z]/,
        markup.filter(({ path }) => !path.endsWith("index.html")),
      ),
      [],
    );
  });
});
