import assert from "node:assert/strict";
import { test } from "node:test";
import { exitCodes } from "../../src/cli/exit.ts";
import { servedCommandLine } from "../support/served-command-line.ts";
import { jsonLines } from "../support/waybeam.ts";

const { waybeam, restart } = servedCommandLine();

async function run(...args: string[]) {
  const { code, out, err } = await waybeam(args);
  assert.equal(code, 0, `${args.join(" ")}: ${err}`);
  return { out, err };
}

const listed = async () => jsonLines((await run("mute", "list", "--json")).out);

test("mutes are set, listed and ended by the command line, and survive a restart", async () => {
  await run("device", "add", "truck", "--name", "Truck 12");
  await run("rule", "add", "Speed", "--type", "speedOver", "--set", "kmh=80", "--device", "truck");
  assert.match((await run("mute", "list")).err, /Nothing is muted/);
  const [mute = {}] = jsonLines(
    (await run("mute", "device", "truck", "--for", "8h", "--note", "workshop", "--json")).out,
  );
  const hours = (Date.parse(String(mute.until)) - Date.parse(String(mute.since))) / 3_600_000;
  assert.ok(Math.abs(hours - 8) < 0.1, String(hours));
  const until = new Date(Date.now() + 86_400_000).toISOString();
  await run("mute", "rule", "Speed", "--until", until, "--critical");
  await restart();
  const both = await listed();
  assert.deepEqual(
    both.map(({ name, note, critical }) => [name, note, critical]),
    [
      ["Truck 12", "workshop", false],
      ["Speed", null, true],
    ],
  );
  assert.equal(both[1]?.until, until);
  assert.match((await run("mute", "list")).out, /device +truck +Truck 12 .*workshop/);
  await run("mute", "end", "--device", "truck", "--rule", "Speed");
  assert.deepEqual(await listed(), []);
});

test("a mute is refused without a valid end, or without something to mute", async () => {
  const { usage, notFound } = exitCodes;
  for (const [args, code] of [
    [["device", "truck"], usage.code],
    [["device", "truck", "--for", "soon"], usage.code],
    [["device", "truck", "--until", "2h"], usage.code],
    [["device", "truck", "--for", "2h", "--until", "2099-01-01"], usage.code],
    [["end"], usage.code],
    [["device", "nothing", "--for", "2h"], notFound.code],
    [["rule", "Nothing", "--for", "2h"], notFound.code],
  ] as const)
    assert.equal((await waybeam(["mute", ...args])).code, code, args.join(" "));
  const far = await waybeam(["mute", "device", "truck", "--for", "31d"]);
  assert.notEqual(far.code, 0);
  assert.match(far.err, /at most 30 days ahead/);
});
