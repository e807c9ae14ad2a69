import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { atEnd } from "../support/at-end.ts";
import { anyPorts, dataFolder, end, type Places, placesOf, removeFolder } from "../support/service.ts";

const root = join(import.meta.dirname, "../..");
const readme = readFileSync(join(root, "README.md"), "utf8");
const scripts: Readonly<Record<string, string>> = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts;

/** Commands that are not run here, and why. */
const excluded: Readonly<Record<string, string>> = {
  "npm test": "it takes minutes",
  "npm run test:all": "it runs this test",
  "npm run gen": "it writes into the checkout; npm test runs it with --check",
  "npm run bench": "it takes minutes",
  "npm run abuse": "it takes minutes; npm run test:rest plays each attempt in a short form",
  "npm run chaos": "it takes minutes; npm run test:rest plays some faults in a short form",
};

/** Commands that go on until Ctrl-C, and what standard error says when they are up. */
const lasting: Readonly<Record<string, RegExp>> = {
  "npm start": /Waybeam is running/,
  "npm run demo": /simulated cars report/,
};

/** The commands of every shell block, in order, without comments. */
const commands = [...readme.matchAll(/^```sh[^\n]*\n(.*?)^```/gms)]
  .flatMap(([, block = ""]) => block.split("\n"))
  .map((line) => line.replace(/\s+#.*/, "").trim())
  .filter((line) => line !== "");

/** What a command's standard output must be like, where a good exit code is not enough. */
const outputs: readonly (readonly [RegExp, RegExp])[] = [
  [/^\.\/waybeam last/, /latitude +48\.137/],
  [/^\.\/waybeam history/, /48\.137000 +11\.575000 .*battery=87/],
  [/^\.\/waybeam device list/, /123456789012345 +Van 1/],
  [/^curl .*Auth\/Token/, /"success":true.*"token":"/],
  [/^\.\/waybeam decode/, /identify +ids 123456789012345/],
  [/^\.\/waybeam simulate/, /25 acked, 0 refused/],
];

describe("the README's commands, as they stand but for the ports", () => {
  // A checkout of its own, as far as the commands see: the data folder of a user is left alone.
  const checkout = dataFolder();
  const { WAYBEAM_DATA: _, WAYBEAM_URL: __, ...inherited } = process.env;
  let service: ChildProcess;
  let places: Places;

  /** Starts what npm would start, and waits until it is up. */
  async function start(command: string): Promise<readonly [ChildProcess, Places]> {
    const script = scripts[command.replace(/^npm (run )?/, "")];
    assert.ok(script, `package.json has no script for: ${command}`);
    const child = spawn("sh", ["-c", `exec ${script}`], {
      cwd: checkout,
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...inherited, ...anyPorts },
    });
    atEnd(() => end(child, "SIGKILL"));
    const told = placesOf(child);
    let said = "";
    await new Promise<void>((resolve, reject) => {
      child.stderr?.on("data", (chunk: Buffer) => {
        said += chunk.toString();
        if (lasting[command]?.test(said)) resolve();
      });
      child.once("exit", (code) => reject(new Error(`${command} ended with ${code}: ${said}`)));
    });
    return [child, await told];
  }

  before(async () => {
    symlinkSync(join(root, "waybeam"), join(checkout, "waybeam"));
    [service, places] = await start("npm start");
  });

  after(async () => {
    await end(service);
    removeFolder(checkout);
  });

  it("name scripts that there are, and each is run or excluded for a reason", () => {
    for (const command of Object.keys({ ...excluded, ...lasting })) assert.ok(commands.includes(command), command);
    for (const [, name = ""] of readme.matchAll(/npm run ([\w:-]+)/g)) assert.ok(scripts[name], `npm run ${name}`);
    for (const command of commands.filter((line) => line.startsWith("npm ")))
      assert.ok(command in excluded || command in lasting, `neither run nor excluded: ${command}`);
    for (const [pattern] of outputs)
      assert.ok(
        commands.some((command) => pattern.test(command)),
        String(pattern),
      );
  });

  for (const command of commands.filter((line) => !line.startsWith("npm ")))
    it(command, async () => {
      const run = command
        .replaceAll("http://localhost:8080", places.url)
        .replaceAll("localhost:8888", `localhost:${places.devicePort}`)
        .replace(/^curl/, "curl --fail-with-body");
      const { stdout } = await promisify(execFile)("sh", ["-c", run], { cwd: checkout, env: inherited });
      for (const [pattern, output] of outputs) if (pattern.test(command)) assert.match(stdout, output);
      assert.doesNotMatch(stdout, /failure/);
    });

  it("npm run demo, beside the service, in a folder of its own; Ctrl-C ends it well", async () => {
    const [demo] = await start("npm run demo");
    assert.equal(await end(demo), 0);
    assert.ok(existsSync(join(checkout, "data-demo/waybeam.db")));
  });

  it("name files that there are, in fewer than 150 lines", () => {
    for (const [, file = ""] of readme.matchAll(/\]\((?!http|#)([^)#]+)/g))
      assert.ok(existsSync(join(root, file)), file);
    assert.ok(readme.split("\n").length < 150);
  });

  it("is right that every command that prints data has --json", () => {
    const silent = [
      "serve",
      "secret rotate",
      "demo",
      "device remove",
      "command cancel",
      "group remove",
      "user remove",
      "rule remove",
      "mute end",
      "complete",
      "zone remove",
      "recipient remove",
    ];
    const sections = readFileSync(join(root, "docs/generated/cli.md"), "utf8")
      .split(/^## waybeam /m)
      .slice(1);
    for (const section of sections.filter((text) => !/^Commands:$/m.test(text))) {
      const [name = ""] = section.split("\n", 1);
      assert.equal(/^ {2}--json/m.test(section), !silent.includes(name), name);
    }
  });
});
