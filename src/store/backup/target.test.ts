import assert from "node:assert/strict";
import fs, { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { BackupRefused } from "./refused.ts";
import { beginPart, type Part } from "./target.ts";

const pid = 1;

/** A place for backups that is gone after the test. */
function placeOf(context: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "waybeam-target-"));
  context.after(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** Makes what counts as a backup, with a text that tells which one it is. */
function fill(folder: string, text: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "waybeam.db"), text);
  writeFileSync(join(folder, "backup.json"), '{"form":1}');
}

function held(folder: string): string | undefined {
  const file = join(folder, "waybeam.db");
  return existsSync(join(folder, "backup.json")) && existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

/** Runs `act` with its own reaction to each rename and deletion. */
function watched(before: (from: string, to: unknown) => void, act: () => void): void {
  const kept = { renameSync: fs.renameSync, rmSync: fs.rmSync, rmdirSync: fs.rmdirSync };
  const told =
    <A extends readonly [unknown, ...unknown[]]>(change: (...args: A) => void) =>
    (...args: A) => {
      before(String(args[0]), args[1]);
      change(...args);
    };
  Object.assign(fs, {
    renameSync: told(kept.renameSync),
    rmSync: told(kept.rmSync),
    rmdirSync: told(kept.rmdirSync),
  });
  syncBuiltinESMExports();
  try {
    act();
  } finally {
    Object.assign(fs, kept);
    syncBuiltinESMExports();
  }
}

/** Lets go of the lock, as the end of a process does. */
function release(part: Part): void {
  try {
    part.drop();
  } catch {
    // It was let go of before.
  }
}

test("a backup that takes another's place leaves the operator's folders beside it alone", (context) => {
  const target = join(placeOf(context), "monday");
  fill(target, "first");
  fill(`${target}.old`, "the operator's own");
  for (const text of ["second", "third"]) {
    const part = beginPart(target, pid);
    fill(part.folder, text);
    part.place();
    assert.equal(held(target), text);
    assert.equal(held(`${target}.old`), "the operator's own");
  }
  assert.deepEqual(readdirSync(join(target, "..")).toSorted(), ["monday", "monday.old"]);
});

test("nobody else can begin a backup in a place before the one that is written there has its name", (context) => {
  const target = join(placeOf(context), "monday");
  fill(target, "first");
  const part = beginPart(target, pid);
  fill(part.folder, "second");
  let renames = 0;
  watched(
    (_, to) => {
      if (typeof to !== "string" || held(target) === "second") return;
      renames++;
      assert.throws(() => beginPart(target, pid), BackupRefused);
    },
    () => part.place(),
  );
  assert.equal(renames, 2);
  beginPart(target, pid).drop();
  assert.deepEqual(readdirSync(join(target, "..")), ["monday"]);
});

test("a replacement that is cut short at any step leaves a whole backup, and the next one works", (context) => {
  const directory = placeOf(context);
  let ended = false;
  for (let cut = 0; !ended; cut++) {
    const target = join(directory, `cut-${cut}`);
    fill(target, "first");
    const part = beginPart(target, pid);
    fill(part.folder, "second");
    let left = cut;
    try {
      watched(
        () => {
          if (left-- <= 0) throw new Error("cut");
        },
        () => part.place(),
      );
      ended = true;
    } catch (error) {
      assert.equal(error instanceof Error && error.message, "cut");
    }
    const whole = ["", ".part/old", ".part/new"].map((place) => held(`${target}${place}`));
    assert.ok(whole.includes("first") || whole[0] === "second", `${cut}: ${whole}`);
    release(part);
    const next = beginPart(target, pid);
    fill(next.folder, "third");
    next.place();
    assert.equal(held(target), "third");
    assert.deepEqual(
      readdirSync(directory).filter((name) => name.startsWith(`cut-${cut}.`)),
      [],
    );
  }
});
