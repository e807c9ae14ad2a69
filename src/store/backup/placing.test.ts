import assert from "node:assert/strict";
import fs, { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { beginRestore, dropRestore, finishRestore, isRestorePending, placeRestore } from "./placing.ts";
import { BackupRefused } from "./refused.ts";

const oldFiles = ["waybeam.db", "waybeam.db-wal", "secret.key", "credentials.json", "token"];
const newFiles = ["waybeam.db", "secret.key"];
const notOurs = "notes.txt";

/** Changes of the file system that `act` may make before the process "dies". True: it came to its end. */
function cutAfter(changes: number, act: () => void): boolean {
  const { renameSync, rmdirSync } = fs;
  let left = changes;
  const counted =
    <A extends unknown[]>(change: (...args: A) => void) =>
    (...args: A) => {
      if (left-- <= 0) throw new Error("cut");
      change(...args);
    };
  Object.assign(fs, { renameSync: counted(renameSync), rmdirSync: counted(rmdirSync) });
  syncBuiltinESMExports();
  try {
    act();
    return true;
  } catch (error) {
    assert.equal(error instanceof Error && error.message, "cut");
    return false;
  } finally {
    Object.assign(fs, { renameSync, rmdirSync });
    syncBuiltinESMExports();
  }
}

function contents(directory: string): Record<string, string> {
  const files = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(files.map(({ name }) => [name, readFileSync(join(directory, name), "utf8")]));
}

const all = (names: readonly string[], text: string) => Object.fromEntries(names.map((name) => [name, text]));

test("a restore that can't move an old file away is undone, when it places the files and when a start finishes it", (context) => {
  for (const moved of [0, 4]) {
    const directory = mkdtempSync(join(tmpdir(), "placing-"));
    context.after(() => rmSync(directory, { recursive: true }));
    for (const name of oldFiles) writeFileSync(join(directory, name), "old");
    const folder = beginRestore(directory);
    for (const name of newFiles) writeFileSync(join(folder, name), "new");
    // Cut right after the first moves, so that another process finishes what this one began.
    if (moved > 0) cutAfter(moved, () => placeRestore(directory));
    const { renameSync } = fs;
    const mounted = (from: fs.PathLike, to: fs.PathLike) => {
      if (from === join(directory, "waybeam.db")) throw Object.assign(new Error("busy"), { code: "EBUSY" });
      renameSync(from, to);
    };
    Object.assign(fs, { renameSync: mounted });
    syncBuiltinESMExports();
    try {
      assert.throws(
        () => (moved > 0 ? finishRestore(directory) : placeRestore(directory)),
        (error) => error instanceof BackupRefused && /waybeam\.db away \(EBUSY\)/.test(error.message),
      );
    } finally {
      Object.assign(fs, { renameSync });
      syncBuiltinESMExports();
    }
    assert.deepEqual(contents(directory), all(oldFiles, "old"));
    assert.equal(isRestorePending(directory), false);
    assert.equal(finishRestore(directory), undefined);
    dropRestore(directory);
    assert.deepEqual(readdirSync(directory).toSorted(), oldFiles.toSorted());
  }
});

test("the disk knows that all old files are away before the first new file has its place, in whatever order it keeps renames", (context) => {
  const directory = mkdtempSync(join(tmpdir(), "placing-"));
  context.after(() => rmSync(directory, { recursive: true }));
  for (const name of oldFiles) writeFileSync(join(directory, name), "old");
  const folder = beginRestore(directory);
  for (const name of newFiles) writeFileSync(join(folder, name), "new");
  const { renameSync, fsyncSync } = fs;
  const done: string[] = [];
  const rename = (from: fs.PathLike, to: fs.PathLike) => {
    done.push(basename(String(to)));
    renameSync(from, to);
  };
  const fsync = (descriptor: number) => {
    done.push("on disk");
    fsyncSync(descriptor);
  };
  Object.assign(fs, { renameSync: rename, fsyncSync: fsync });
  syncBuiltinESMExports();
  try {
    placeRestore(directory);
  } finally {
    Object.assign(fs, { renameSync, fsyncSync });
    syncBuiltinESMExports();
  }
  for (const step of ["restore.ready", "restore.placing"]) assert.equal(done[done.indexOf(step) + 1], "on disk", step);
});

test("a restore that is cut short at any step, twice, ends with all old files or all new ones", () => {
  let ended = false;
  for (let first = 0; !ended; first++)
    for (let second = 0; second < 14; second++) {
      const directory = mkdtempSync(join(tmpdir(), "placing-"));
      try {
        for (const name of [...oldFiles, notOurs]) writeFileSync(join(directory, name), "old");
        const folder = beginRestore(directory);
        for (const name of newFiles) writeFileSync(join(folder, name), "new");
        ended = cutAfter(first, () => placeRestore(directory));
        const counts = ended || isRestorePending(directory);
        cutAfter(second, () => finishRestore(directory));
        finishRestore(directory);
        dropRestore(directory);
        const now = contents(directory);
        if (!counts) assert.deepEqual(now, all([...oldFiles, notOurs], "old"), `cut at ${first}, ${second}`);
        else {
          assert.deepEqual(now, {
            ...all(newFiles, "new"),
            "credentials.json": "old",
            [notOurs]: "old",
          });
          const kept = oldFiles.filter((name) => name !== "credentials.json");
          assert.deepEqual(contents(join(directory, "replaced-1")), all(kept, "old"));
        }
        const folders = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
        assert.deepEqual(
          folders.map(({ name }) => name),
          counts ? ["replaced-1"] : [],
        );
      } finally {
        rmSync(directory, { recursive: true });
      }
    }
});
