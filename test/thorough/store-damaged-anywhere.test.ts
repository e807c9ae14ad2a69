import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { Fix } from "../../src/model/effects.ts";
import { StoreUnavailable } from "../../src/ports/store.ts";
import { check } from "../../src/store/backup/check.ts";
import { DataFolderUnusable } from "../../src/store/sqlite/folder.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { chance, drive, World } from "../support/any-order.ts";
import { type Location, withoutTotals } from "../support/location-content.ts";
import { pageBytes, spoil } from "../support/pages.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";

/*
 * One bit of a folder's databases is changed, wherever it is. Then the store opens or says plainly why not; a device's
 * answers are those from before, or fail, or lack what `waybeam check` tells of; and what is whole takes new reports.
 */

/** Longer, by hand: DAMAGE_SEED, DAMAGE_TRIALS. */
const seed = Number(process.env.DAMAGE_SEED ?? Date.now() % 2 ** 31);
const trials = Number(process.env.DAMAGE_TRIALS ?? Number.POSITIVE_INFINITY);
const mostMs = process.env.DAMAGE_TRIALS === undefined ? 20_000 : Number.POSITIVE_INFINITY;

/**
 * Where most of the bits are changed: the tables of positions and of what follows from them are a few pages of many.
 */
const chosen = [
  ["positions.db", "log"],
  ["positions.db", "block"],
  ["positions.db", "block_place"],
  ["waybeam.db", "device_head"],
  ["waybeam.db", "device_day"],
  ["waybeam.db", "device_day_sums"],
] as const;

interface Known {
  readonly id: string;
  readonly key: number;
  readonly history: readonly Location[];
  readonly last: string | undefined;
}

async function answersOf(world: World, key: number): Promise<Pick<Known, "history" | "last">> {
  const { json } = await world.follower.latest({ key, odometerStart: 0 });
  return { history: await world.history(key), last: json };
}

/**
 * A folder of some devices, over some days: part of it is packed, some came late. `crashed`: nobody ended the service.
 */
async function made(crashed: boolean): Promise<{ directory: string; answers: readonly Known[]; more: readonly Fix[] }> {
  const directory = dataFolder();
  const world = new World(directory);
  await world.start();
  const account = await makeAccount(world.store);
  const fixes = drive(chance(5), 700).map((fix, at) => ({
    ...fix,
    time: fix.time + Math.floor(at / 200) * 86_400_000,
  }));
  const devices: { id: string; key: number }[] = [];
  for (let number = 0; number < 5; number++) devices.push(await makeDevice(world.store, account.key));
  const isLate = (at: number) => at % 130 === 60;
  const deliver = async (from: number, to: number) => {
    const some = fixes.slice(from, to);
    for (const { id } of devices)
      await world.deliver(
        await world.admitted(id),
        some.filter((_, at) => !isLate(from + at)),
      );
  };
  await deliver(0, 600);
  await world.packAll();
  for (let at = 600; at < 680; at += 4) await deliver(at, at + 4);
  const late = fixes.filter((_, at) => isLate(at) && at < 680);
  for (const { id } of devices.slice(0, 3)) await world.deliver(await world.admitted(id), late);
  await world.followed();
  const answers: Known[] = [];
  for (const { id, key } of devices) answers.push({ id, key, ...(await answersOf(world, key)) });
  const copy = dataFolder();
  if (crashed) cpSync(directory, copy, { recursive: true, filter: (path) => !path.endsWith(".lock") });
  await world.stop();
  if (!crashed) cpSync(directory, copy, { recursive: true });
  removeFolder(directory);
  return { directory: copy, answers, more: fixes.slice(680) };
}

const plainly = (error: unknown) => error instanceof StoreUnavailable && error.trouble === "damaged";

const contents = (history: readonly Location[]) => history.map((one) => JSON.stringify(withoutTotals(one).content));

/** What is wrong with what a device answers. Undefined: nothing. Throws where it has a record that it never had. */
async function problemOf(world: World, known: Known, more: readonly Fix[]): Promise<string | undefined> {
  let problem: string | undefined;
  try {
    const { history, last } = await answersOf(world, known.key);
    const before = new Set(contents(known.history));
    const wrong = contents(history).filter((one) => !before.has(one));
    assert.deepEqual(wrong, [], `${known.id} has wrong records`);
    if (history.length < known.history.length) problem = `lacks ${known.history.length - history.length} records`;
    else if (JSON.stringify(history) !== JSON.stringify(known.history)) problem = "has other totals";
    if (last !== known.last) problem ??= `last location: ${last}`;
  } catch (error) {
    if (!plainly(error)) throw error;
    problem = String(error);
  }
  try {
    const submitted = world.submit(await world.admitted(known.id), more);
    // A report that can't be stored is tried again, for minutes.
    const waits = problem === undefined ? 20_000 : 300;
    const late = new Promise<string>((resolve) => setTimeout(resolve, waits, "not stored").unref());
    const outcome = await Promise.race([submitted, late]);
    if (outcome !== "stored") problem ??= `its reports are ${outcome}`;
    else if (problem === undefined)
      assert.equal((await world.history(known.key)).length, known.history.length + more.length, "with new reports");
  } catch (error) {
    if (!plainly(error)) throw error;
    problem ??= String(error);
  }
  return problem;
}

/** What `waybeam check` finds wrong. */
async function findingsOf(directory: string): Promise<readonly unknown[]> {
  const work = { signal: new AbortController().signal, progress: () => undefined };
  const inspected = check({ directory, secretFile: undefined, pid: process.pid }, work);
  return inspected.then(
    ({ findings }) => findings,
    (error) => [String(error)],
  );
}

test(`one changed bit, anywhere in the databases, makes no answer other than before without being told (DAMAGE_SEED=${seed})`, async (context) => {
  const random = chance(seed);
  const bases = [await made(false), await made(true)];
  context.after(() => {
    for (const { directory } of bases) removeFolder(directory);
  });
  const until = Date.now() + mostMs;
  const counts = { opened: 0, refused: 0, whole: 0, told: 0 };
  for (let trial = 0; trial < trials && Date.now() < until; trial++) {
    const { directory: base, answers, more } = bases[trial % bases.length] ?? assert.fail();
    const directory = dataFolder();
    cpSync(base, directory, { recursive: true });
    const [file, name] = chosen[Math.floor(random() * chosen.length)] ?? chosen[0];
    const database = new DatabaseSync(join(directory, file), { readOnly: true });
    const pages = database.prepare("select pageno, name, pagetype from dbstat where pgoffset >= 0").all();
    database.close();
    const some = random() < 0.7 ? pages.filter((one) => one.name === name) : pages;
    const page = some[Math.floor(random() * some.length)] ?? assert.fail();
    const isHead = random() < 0.3;
    const place = Math.floor(random() * (isHead ? 160 : pageBytes));
    const bit = 1 << Math.floor(random() * 8);
    spoil(directory, Number(page.pageno), place, bit, file);
    const what = `trial ${trial}: bit ${bit} of octet ${place} of page ${page.pageno} of ${file}, ${page.pagetype} of ${page.name}`;
    await context
      .test(what, async () => {
        const found = await findingsOf(directory);
        const told: unknown[] = [];
        const world = new World(directory);
        try {
          await world.start({ ...silentLog, error: (fields, text) => void told.push({ ...fields, text }) });
        } catch (error) {
          if (error instanceof DataFolderUnusable || plainly(error)) {
            counts.refused++;
            assert.ok(found.length > 0, `check finds nothing: ${error}`);
            context.diagnostic(`${what}: ${error}`);
            return;
          }
          throw error;
        }
        counts.opened++;
        const problems: string[] = [];
        try {
          for (const known of answers) {
            const problem = await problemOf(world, known, more);
            if (problem !== undefined) problems.push(`${known.id} ${problem}`);
          }
        } finally {
          await world.stop();
        }
        if (problems.length === 0) counts.whole++;
        else {
          counts.told++;
          context.diagnostic(`${what}: ${problems.join("; ")}; told: ${JSON.stringify(told)}`);
          assert.ok(found.length > 0, `check finds nothing: ${problems.join("; ")}`);
        }
      })
      .finally(() => removeFolder(directory));
  }
  context.diagnostic(`seed ${seed}: ${JSON.stringify(counts)}`);
});
