import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { Fix } from "../../src/model/effects.ts";
import { StoreUnavailable } from "../../src/ports/store.ts";
import { DataFolderUnusable } from "../../src/store/sqlite/folder.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { readAll } from "../contract/store/records.ts";
import { chance, drive, World } from "../support/any-order.ts";
import { findingsOf, withoutVersion } from "../support/kept-states.ts";
import { pageBytes, spoil } from "../support/pages.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";

/*
 * One bit of a folder's database is changed, wherever it is. Then the store opens or says plainly why not; a device's answers are those from before, or fail, or lack what the log and
 * `waybeam check` tell of; and what is whole takes new reports.
 */

/** Longer, by hand: DAMAGE_SEED, DAMAGE_TRIALS. */
const seed = Number(process.env.DAMAGE_SEED ?? Date.now() % 2 ** 31);
const trials = Number(process.env.DAMAGE_TRIALS ?? Number.POSITIVE_INFINITY);
const mostMs = process.env.DAMAGE_TRIALS === undefined ? 20_000 : Number.POSITIVE_INFINITY;

const ofPositions = ["tail", "tail", "block", "block_data", "shifts", "patch", "patch_device", "device_state"];

interface Known {
  readonly id: string;
  readonly key: number;
  readonly history: readonly string[];
  readonly state: string;
}

/** What the devices of a folder answer. */
type Answers = readonly Known[];

/** A folder of some devices, with rows of every kind. `crashed`: states are older than rows of the tail. */
async function made(crashed: boolean): Promise<{ directory: string; answers: Answers; more: readonly Fix[] }> {
  const directory = dataFolder();
  const world = new World(directory);
  await world.start();
  const account = await makeAccount(world.store);
  const fixes = drive(chance(5), 700);
  const ids: { id: string; key: number }[] = [];
  for (let number = 0; number < 5; number++) {
    const { id, key } = await makeDevice(world.store, account.key);
    ids.push({ id, key });
    const admitted = await world.admitted(id);
    const isLate = (at: number) => number < 3 && at % 130 === 60;
    const early = fixes.slice(0, 640).filter((_, at) => !isLate(at));
    if (number < 4) {
      for (let at = 0; at < 600; at += 200) await world.deliver(admitted, early.slice(at, at + 200));
      await world.store.seal(key);
    }
    for (let at = number < 4 ? 600 : 500; at < early.length; at += 2)
      await world.deliver(admitted, early.slice(at, at + 2));
    for (const late of fixes.slice(0, 640).filter((_, at) => isLate(at))) await world.deliver(admitted, [late]);
    await world.deliver(admitted, fixes.slice(640, 650));
  }
  for (let at = 650; at < 690; at += 2)
    for (const { id } of ids) await world.deliver(await world.admitted(id), fixes.slice(at, at + 2));
  const answers: Known[] = [];
  for (const { id, key } of ids) answers.push({ id, key, ...(await answersOf(world, key)) });
  if (!crashed) {
    await world.stop();
    return { directory, answers, more: fixes.slice(690) };
  }
  const copy = dataFolder();
  cpSync(directory, copy, { recursive: true, filter: (path) => !path.endsWith(".lock") });
  await world.stop();
  removeFolder(directory);
  const database = new DatabaseSync(join(copy, "waybeam.db"));
  database.exec("pragma user_version = 2");
  database.close();
  return { directory: copy, answers, more: fixes.slice(690) };
}

async function answersOf(world: World, key: number) {
  const { json } = await readAll(world.store, key);
  const [state] = await world.store.locations.states([key]);
  const parsed: unknown = JSON.parse(`[${json}]`);
  assert.ok(Array.isArray(parsed) && state);
  return { history: parsed.map((one) => JSON.stringify(one)), state: JSON.stringify(withoutVersion(state)) };
}

const plainly = (error: unknown) => error instanceof StoreUnavailable && error.trouble === "damaged";

/** What is wrong with what a device answers. Undefined: nothing. Throws where an answer is other than before. */
async function problemOf(world: World, known: Known, more: readonly Fix[]): Promise<string | undefined> {
  let problem: string | undefined;
  try {
    const { history, state } = await answersOf(world, known.key);
    const before = new Set(known.history);
    assert.deepEqual(
      history.filter((one) => !before.has(one)),
      [],
      `${known.id} has wrong records`,
    );
    if (history.length < known.history.length) problem = `lacks ${known.history.length - history.length} records`;
    else assert.deepEqual(history, known.history);
    if (state !== known.state) problem = `state: ${state}`;
  } catch (error) {
    if (!plainly(error)) throw error;
    problem = String(error);
  }
  try {
    const admitted = await world.admitted(known.id);
    const stored = new Promise<string>((resolve) =>
      world.ingest.submit(admitted, more, more.at(-1)?.time ?? 0, resolve),
    );
    // A report that can't be stored is tried again, for minutes.
    const waits = problem === undefined ? 20_000 : 300;
    const late = new Promise<string>((resolve) => setTimeout(resolve, waits, "not stored").unref());
    const outcome = await Promise.race([stored, late]);
    if (outcome !== "stored") problem ??= `its reports are ${outcome}`;
    else if (problem === undefined)
      assert.equal(
        (await readAll(world.store, known.key)).count,
        known.history.length + more.length,
        "with new reports",
      );
  } catch (error) {
    if (!plainly(error)) throw error;
    problem ??= String(error);
  }
  return problem;
}

test(`one changed bit, anywhere in the database, makes no answer other than before without being told (DAMAGE_SEED=${seed})`, async (context) => {
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
    const database = new DatabaseSync(join(directory, "waybeam.db"), { readOnly: true });
    const pages = database.prepare("select pageno, name, pagetype from dbstat where pgoffset >= 0").all();
    database.close();
    // The tables of positions are a few pages of many.
    const name = random() < 0.7 ? ofPositions[Math.floor(random() * ofPositions.length)] : undefined;
    const some = name === undefined ? pages : pages.filter((one) => one.name === name);
    const page = some[Math.floor(random() * some.length)] ?? assert.fail();
    const isHead = random() < 0.3;
    const place = Math.floor(random() * (isHead ? 160 : pageBytes));
    const bit = 1 << Math.floor(random() * 8);
    spoil(directory, Number(page.pageno), place, bit);
    const what = `trial ${trial}: bit ${bit} of octet ${place} of page ${page.pageno}, ${page.pagetype} of ${page.name}`;
    await context
      .test(what, async () => {
        const found = await findingsOf(directory).catch((error: unknown) => [
          { device: undefined, problem: String(error) },
        ]);
        const told: unknown[] = [];
        const world = new World(directory);
        try {
          await world.start({ ...silentLog, error: (fields, text) => void told.push({ ...fields, text }) });
        } catch (error) {
          if (error instanceof DataFolderUnusable) {
            counts.refused++;
            assert.ok(found.length > 0, `check finds nothing: ${error.message}`);
            context.diagnostic(`${what}: ${error.message}`);
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
