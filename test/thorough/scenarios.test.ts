import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { exitCodes } from "../../src/cli/exit.ts";
import { dataFolder, end, removeFolder, type Service, startService } from "../support/service.ts";
import { commandLine, jsonLines } from "../support/waybeam.ts";

const stories = join(import.meta.dirname, "../../docs/scenarios");
const directory = dataFolder();
const { start, waybeam } = commandLine(directory);
let service: Service;

before(async () => {
  service = await startService(directory);
});

after(async () => {
  await service?.stop();
  removeFolder(directory);
});

/** Does it, and it goes well; what it printed. */
async function done(...args: string[]): Promise<string> {
  const { code, out, err } = await waybeam(args);
  assert.equal(code, 0, `${args.join(" ")}: ${err}`);
  return out;
}

/** Plays a story of the documentation, far faster than it is written; the summary. */
async function play(name: string): Promise<Record<string, unknown>> {
  const port = ["--device-port", String(service.devicePort)];
  const out = await done("simulate", "--scenario", join(stories, name), "--speed-up", "3000", ...port, "--json");
  const [summary] = jsonLines(out);
  assert.ok(summary);
  return summary;
}

/** What the alerts of a device say, by time. */
async function told(device: string): Promise<readonly unknown[]> {
  const alerts = jsonLines(await done("alert", "list", device, "--from", "3d", "--to", "now", "--json"));
  return alerts.map(({ alerts: names, phase, late }) => [...[names].flat(), phase, late]);
}

test("a story is played wholly: each of its reports is in the history, at its own time", async () => {
  for (const name of readdirSync(stories)) {
    const { acked, waiting, refused, begin, end: last, deviceIds } = await play(name);
    assert.deepEqual([waiting, refused], [0, 0], name);
    let stored = 0;
    for (const id of [deviceIds].flat()) {
      const history = jsonLines(
        await done("history", String(id), "--from", String(begin), "--to", String(last), "--json"),
      );
      stored += history.length;
      assert.deepEqual([history[0]?.dateTime, history.at(-1)?.dateTime], [begin, last], name);
    }
    assert.equal(stored, acked, name);
    // Played again, to rules that are there.
    await done("device", "remove", ...[deviceIds].flat().map(String));
  }
});

test("rules see what a story tells: a zone that is left, power that is lost, a tank that is emptied", async () => {
  const [truck, van, tipper] = ["990000000000101", "990000000000202", "990000000000301"];
  for (const id of [truck, van, tipper]) await done("device", "add", id);
  const depot = JSON.stringify({ type: "Point", coordinates: [-74.0721, 4.711] });
  assert.equal((await waybeam(["zone", "add", "Depot", "--radius", "0.5", "--file", "-"], depot)).code, 0);
  const add = (name: string, type: string, device: string, ...more: string[]) =>
    done("rule", "add", name, "--type", type, "--device", device, ...more);
  await add("Left", "allowedZone", truck, "--zone", "Depot");
  await add("Power", "powerDisconnected", truck, "--critical");
  await add("Speed", "speedOver", van, "--set", "kmh=80", "--hold", "1m", "--when-over");
  await add("Theft", "fuelDecrease", tipper, "--set", "points=15", "--set", "minutes=15");
  const follower = start(["alert", "follow", "--json"]);
  let followed = "";
  follower.stdout?.on("data", (chunk: Buffer) => {
    followed += chunk.toString();
  });
  await new Promise<void>((resolve) => {
    let said = "";
    follower.stderr?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes("Following")) resolve();
    });
  });
  for (const name of readdirSync(stories)) await play(name);

  assert.deepEqual(await told(truck), [
    ["Left", "raised", false],
    ["Power", "raised", false],
  ]);
  assert.deepEqual(await told(van), [
    ["Speed", "raised", false],
    ["Speed", "over", false],
  ]);
  assert.deepEqual(await told(tipper), [["Theft", "raised", false]]);
  const [theft] = jsonLines(await done("alert", "list", tipper, "--from", "3d", "--json"));
  assert.deepEqual(theft?.facts, { tank: 1, from: 74, to: 46, points: 28, limit: 15, minutes: 8 });
  const [speed] = jsonLines(await done("rule", "try", "Speed", "--device", van, "--from", "3d", "--json"));
  assert.deepEqual(
    jsonLines(await done("alert", "list", van, "--from", "3d", "--json")).map(({ facts, text }) => ({
      facts,
      text,
    }))[0],
    { facts: speed?.facts, text: speed?.text },
  );
  await new Promise<void>((resolve, reject) => {
    follower.once("exit", () => reject(new Error("alert follow ended by itself")));
    const looking = setInterval(() => {
      if (jsonLines(followed.slice(0, followed.lastIndexOf("\n") + 1)).length === 0) return;
      clearInterval(looking);
      resolve();
    }, 50);
  });
  assert.equal(await end(follower), 0);
  // Each is told when it is found, and once more when it ends.
  const changes = jsonLines(followed).map(({ id, endedAt }) => `${id} ${endedAt}`);
  assert.equal(new Set(changes).size, changes.length);
});

test("a story with mistakes is refused with all of them, and nothing is registered", async () => {
  const story = {
    title: "t",
    end: "+5m",
    trackers: [
      { name: "A", place: "nowhere" },
      { name: "", protocol: "morse" },
    ],
  };
  const { code, err } = await waybeam(["simulate", "--scenario", "-"], JSON.stringify(story));
  assert.equal(code, exitCodes.usage.code);
  for (const place of ["trackers[0].place", "trackers[1].name", "trackers[1].protocol", "trackers[1].place"])
    assert.ok(err.includes(`\n  ${place}: `), err);
  const both = await waybeam(["simulate", "--scenario", "x.json", "--devices", "3"]);
  assert.equal(both.code, exitCodes.usage.code);
});
