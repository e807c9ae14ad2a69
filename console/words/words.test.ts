import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { textOf, type Words } from "./words.ts";

const folder = join(import.meta.dirname, "..");

function wordsOf(language: string): Words {
  return JSON.parse(readFileSync(join(import.meta.dirname, `${language}.json`), "utf8"));
}

const en = wordsOf("en");
const es = wordsOf("es");

/** The places of a text, in order. */
function places(text = ""): readonly string[] {
  return [...text.matchAll(/\{\w+\}/g)].map(([place]) => place).toSorted();
}

describe("the languages", () => {
  it("have the same keys", () => {
    assert.deepEqual(Object.keys(es).toSorted(), Object.keys(en).toSorted());
  });

  it("have the same places in each text, and no text is empty", () => {
    for (const [key, text] of Object.entries(en)) {
      assert.deepEqual(places(es[key]), places(text), key);
      assert.notEqual(text.trim(), "", key);
      assert.notEqual(es[key]?.trim(), "", key);
    }
  });

  it("have no key that nothing uses", () => {
    const sources = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(svelte|ts)$/.test(name) && !name.startsWith("dist") && !name.endsWith(".test.ts"))
      .map((name) => readFileSync(join(folder, name), "utf8"))
      .join("\n");
    const made = [
      ...[...sources.matchAll(/`((?:\w+\.)+)\$\{/g)].map(([, prefix = ""]) => prefix),
      ...[...sources.matchAll(/\bnamed\("(\w+)"/g)].map(([, group]) => `${group}.`),
    ];
    const unused = Object.keys(en)
      .map((key) => key.replace(/\.(one|other)$/, ""))
      .filter((key) => !sources.includes(`"${key}"`) && !made.some((prefix) => key.startsWith(prefix)));
    assert.deepEqual(unused, []);
  });
});

describe("textOf", () => {
  const words = { hello: "Hello {name}", "cars.one": "{count} car", "cars.other": "{count} cars" };

  it("puts values into their places", () => {
    assert.equal(textOf(words, "en", "hello", { name: "{count}" }), "Hello {count}");
  });

  it("chooses the form by the number", () => {
    assert.equal(textOf(words, "en", "cars", { count: 1 }), "1 car");
    assert.equal(textOf(words, "en", "cars", { count: 1234 }), "1,234 cars");
  });

  it("gives the key where there is no text", () => {
    assert.equal(textOf(words, "en", "nothing"), "nothing");
  });
});
