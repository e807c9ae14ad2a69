import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";

const root = join(import.meta.dirname, "../..");
const dist = join(root, "console/dist");
/** What a page may load of scripts, compressed by gzip. */
const most = { withMap: 700_000, without: 350_000 };

interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
}

describe("the scripts of the console", () => {
  let manifest: Readonly<Record<string, Chunk>>;

  before(() => {
    execFileSync(process.execPath, [join(root, "scripts/console/build.ts"), "--if-older"], { stdio: "ignore" });
    manifest = JSON.parse(readFileSync(join(dist, ".vite/manifest.json"), "utf8"));
  });

  /** Bytes of what pages load at once: the entry, and the pages themselves, with all that they import. */
  function bytesOf(...pages: readonly string[]): number {
    const seen = new Set<string>();
    const visit = (name: string): void => {
      const chunk = manifest[name];
      if (chunk === undefined || seen.has(chunk.file)) return;
      seen.add(chunk.file);
      for (const other of chunk.imports ?? []) visit(other);
    };
    const entry = Object.keys(manifest).find((name) => manifest[name]?.isEntry);
    for (const name of [entry ?? "", ...pages]) visit(name);
    return [...seen].reduce((sum, file) => sum + statSync(join(dist, `${file}.gz`)).size, 0);
  }

  it(`are less than ${most.withMap} bytes with the map and its worker`, () => {
    const workers = readdirSync(join(dist, "assets")).filter((name) => /worker.*\.js\.gz$/.test(name));
    const bytes = workers.reduce(
      (sum, name) => sum + statSync(join(dist, "assets", name)).size,
      bytesOf("map/MapPage.svelte"),
    );
    assert.ok(bytes > 300_000 && bytes < most.withMap, String(bytes));
  });

  it(`are less than ${most.without} bytes without`, () => {
    for (const page of [
      "manage/ManagePage.svelte",
      "rules/RulesPage.svelte",
      "alerts/AlertsPage.svelte",
      "me/MePage.svelte",
    ]) {
      const bytes = bytesOf(page);
      assert.ok(bytes > 10_000 && bytes < most.without, `${page}: ${bytes}`);
    }
  });
});
