import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import fs, { copyFileSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { makeBackup } from "../../src/store/backup/backup.ts";
import { check } from "../../src/store/backup/check.ts";
import { BackupRefused, type LongWork } from "../../src/store/backup/refused.ts";
import { restore } from "../../src/store/backup/restore.ts";
import { filled, filledWithBlocks, readBlocks } from "../support/backup-folders.ts";
import { backToBeforeBlocks, backToBlocks } from "../support/older-data.ts";
import { folderOf } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";
import { openStore, secretsOf } from "../support/store.ts";
import { killedAfter } from "../support/waybeam.ts";

const { pid } = process;
const work: LongWork = { signal: new AbortController().signal, progress() {} };
const options = { timeout: 120_000 };
/** Small, so that little data has many packs. */
const packBytes = 16 * 1024;

async function backUp(directory: string, target: string, more: { full?: boolean; program?: string } = {}) {
  const secretFile = join(directory, "secret.key");
  const wish = {
    target,
    replace: true,
    full: false,
    withoutKeys: false,
    program: "1",
    pid,
    now: 0,
    packBytes,
    ...more,
  };
  return await makeBackup({ directory, secretFile, ...wish }, work);
}

const packsIn = (target: string) =>
  new Map(
    readdirSync(target)
      .filter((name) => name.endsWith(".pack"))
      .map((name) => [name, statSync(join(target, name)).ino]),
  );

/** Checks that a backup is whole, and that what is restored from it is what is in the data folder, byte for byte. */
async function isWhole(context: TestContext, target: string, directory: string): Promise<void> {
  assert.deepEqual((await check({ directory: target, secretFile: undefined, pid }, work)).findings, []);
  const restored = join(folderOf(context), "data");
  const secretFile = join(restored, "secret.key");
  await restore({ backup: target, directory: restored, secretFile, replace: false, pid }, work);
  assert.deepEqual(readBlocks(restored), readBlocks(directory));
}

function change(directory: string, act: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  act(database);
  database.close();
}

/** Changes one bit in the middle of a file that has other names, under this name only. */
function flip(file: string): void {
  const bytes = readFileSync(file);
  const at = bytes.length >> 1;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  rmSync(file);
  writeFileSync(file, bytes);
}

test("a second backup neither reads nor writes the blocks that the first one has", options, async (context) => {
  const { directory, grow } = await filledWithBlocks(context);
  const target = join(folderOf(context), "backup");
  const first = await backUp(directory, target);
  assert.equal(first.takenBytes, 0);
  const before = packsIn(target);
  assert.ok(before.size >= 6, `${before.size} packs`);
  await grow(600);
  const whole = readBlocks(directory);
  // Whoever reads these blocks finds them damaged.
  const spoilt = [...whole.blocks.keys()].slice(0, 8);
  const set = "update block_data set data = ? where seq = ?";
  change(directory, (database) => {
    for (const seq of spoilt) database.prepare(set).run(Buffer.alloc(20), seq);
  });
  const second = await backUp(directory, target);
  assert.deepEqual(second.notes, []);
  const after = packsIn(target);
  const same = [...after].filter(([name, inode]) => before.get(name) === inode);
  assert.ok(
    same.length >= before.size - 2 && after.size > same.length,
    `${same.length} of ${before.size} are the same`,
  );
  const blocks = [...whole.blocks.values()].reduce((sum, { data }) => sum + data.byteLength, 0);
  assert.equal(second.manifest.packBytes, blocks);
  assert.ok(blocks - second.takenBytes < 3 * packBytes, `${second.takenBytes} of ${blocks} were taken over`);
  await assert.rejects(backUp(directory, target, { full: true }), /the database is damaged \(device .*block \d+/);
  change(directory, (database) => {
    for (const seq of spoilt) database.prepare(set).run(whole.blocks.get(seq)?.data ?? null, seq);
  });
  await isWhole(context, target, directory);
  const third = await backUp(directory, target);
  assert.deepEqual([third.takenBytes, packsIn(target)], [blocks, after]);
  const full = await backUp(directory, target, { full: true });
  assert.equal(full.takenBytes, 0);
  await isWhole(context, target, directory);
});

test("blocks whose rows an older version wrote are compared by their bytes", options, async (context) => {
  const { directory } = await filledWithBlocks(context, 1);
  change(directory, (database) => database.exec("update block set crc = null"));
  const target = join(folderOf(context), "backup");
  await backUp(directory, target);
  const second = await backUp(directory, target);
  assert.equal(second.takenBytes, second.manifest.packBytes);
  await isWhole(context, target, directory);
  change(directory, (database) =>
    database.exec("update block_data set data = zeroblob(length(data)) where seq = (select min(seq) from block)"),
  );
  await assert.rejects(backUp(directory, target), /the database is damaged/);
  assert.deepEqual((await check({ directory: target, secretFile: undefined, pid }, work)).findings, []);
});

test(
  "a changed bit or a missing file in the earlier backup is noticed, and the live blocks are copied",
  options,
  async (context) => {
    const { directory } = await filledWithBlocks(context);
    const target = join(folderOf(context), "backup");
    await backUp(directory, target);
    const [one = "", other = ""] = packsIn(target).keys();
    flip(join(target, one));
    rmSync(join(target, other));
    const { findings } = await check({ directory: target, secretFile: undefined, pid }, work);
    assert.ok(findings.some(({ problem }) => problem === `${other} is missing`));
    assert.ok(findings.some(({ device, problem }) => device !== undefined && /checksum/.test(problem)));
    const into = join(folderOf(context), "data");
    const secretFile = join(into, "secret.key");
    await assert.rejects(
      restore({ backup: target, directory: into, secretFile, replace: false, pid }, work),
      BackupRefused,
    );
    const second = await backUp(directory, target);
    assert.match(second.notes.join(), /^2 files of the backup that was there were damaged or missing/);
    assert.ok(second.takenBytes > 0);
    await isWhole(context, target, directory);

    flip(join(target, "tables.db"));
    const third = await backUp(directory, target);
    assert.match(third.notes.join(), /^Everything was copied: the backup that is there is damaged \(tables.db\)/);
    assert.equal(third.takenBytes, 0);
    await isWhole(context, target, directory);
  },
);

test(
  "nothing of a state before a restore is mixed in, though row numbers are given again",
  options,
  async (context) => {
    const { directory, grow } = await filledWithBlocks(context);
    const place = folderOf(context);
    const [old, newest] = [join(place, "old"), join(place, "newest")];
    await backUp(directory, old);
    await grow(3000);
    await backUp(directory, newest);
    const before = readBlocks(directory);
    const secretFile = join(directory, "secret.key");
    await restore({ backup: old, directory, secretFile, replace: true, pid }, work);
    // The same times, numbers and places, another speed.
    await grow(3000, { speed: 55 });
    const after = readBlocks(directory);
    const again = [...after.blocks].filter(([seq]) => before.blocks.has(seq));
    const others = again.filter(([seq, { data }]) => !before.blocks.get(seq)?.data.equals(data));
    const alike = others.filter(([seq, { numbers }]) => isDeepStrictEqual(numbers, before.blocks.get(seq)?.numbers));
    assert.ok(
      alike.length > 4 && others.length < again.length,
      `${alike.length} of ${again.length} are other blocks with the same numbers`,
    );
    const made = await backUp(directory, newest);
    assert.ok(made.takenBytes > 0);
    await isWhole(context, newest, directory);
  },
);

test("blocks that are gone are gone in the next backup", options, async (context) => {
  const { directory } = await filledWithBlocks(context);
  const target = join(folderOf(context), "backup");
  await backUp(directory, target);
  const [[seq, gone] = []] = readBlocks(directory).blocks;
  assert.ok(seq !== undefined && gone);
  const holds = () => [...packsIn(target).keys()].some((name) => readFileSync(join(target, name)).includes(gone.data));
  assert.ok(holds());
  change(directory, (database) =>
    database.exec(
      `update device_state set deleted = deleted + (select count from block where seq = ${seq}) where device = ${gone.device};
       delete from block where seq = ${seq}; delete from block_data where seq = ${seq}`,
    ),
  );
  await backUp(directory, target);
  assert.ok(!holds());
  await isWhole(context, target, directory);
});

test(
  "nothing is taken over from another service's backup or another version's, and the result says why",
  options,
  async (context) => {
    const { directory } = await filledWithBlocks(context, 1);
    const target = join(folderOf(context), "backup");
    const other = folderOf(context);
    await (await openStore(other, silentLog, secretsOf(other))).close();
    await backUp(other, target);
    const refused = async (why: RegExp, more?: { program: string }) => {
      const { notes, takenBytes } = await backUp(directory, target, more);
      assert.match(notes.join(), why);
      assert.equal(takenBytes, 0);
      await isWhole(context, target, directory);
    };
    await refused(/^Everything was copied: the backup that is there has another secret key/);
    await refused(/^Everything was copied: another version of the program \(1\)/, { program: "2" });
    const manifest = join(target, "backup.json");
    writeFileSync(manifest, readFileSync(manifest, "utf8").replace('"form": 2', '"form": 1'));
    await refused(/^Everything was copied: an older version of the program/, { program: "2" });
    writeFileSync(manifest, readFileSync(manifest, "utf8").replace('"form": 2', '"form": 3'));
    await refused(/^Everything was copied: .* of form 3, a newer program/, { program: "2" });
  },
);

test(
  "a backup of form 1, which has the whole database in one file, is checked, restored and replaced",
  options,
  async (context) => {
    const { directory } = await filledWithBlocks(context, 1);
    const target = join(folderOf(context), "backup");
    await backUp(directory, target);
    for (const name of ["tables.db", ...packsIn(target).keys()]) rmSync(join(target, name));
    const file = join(target, "waybeam.db");
    copyFileSync(join(directory, "waybeam.db"), file);
    change(target, (database) => database.exec("pragma journal_mode = delete"));
    const bytes = readFileSync(file);
    const manifest = join(target, "backup.json");
    const { packBytes: _, restoredBytes: __, ...said } = JSON.parse(readFileSync(manifest, "utf8"));
    const sum = { bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
    writeFileSync(manifest, JSON.stringify({ ...said, ...sum, form: 1 }));
    await isWhole(context, target, directory);
    const { notes } = await backUp(directory, target);
    assert.match(notes.join(), /an older version of the program/);
    assert.ok(!readdirSync(target).includes("waybeam.db"));
    await isWhole(context, target, directory);
  },
);

test(
  "a disk that gives files no second names gets copies of the earlier backup's, with their times",
  options,
  async (context) => {
    const { directory } = await filledWithBlocks(context, 1);
    const target = join(folderOf(context), "backup");
    await backUp(directory, target);
    const [name = ""] = packsIn(target).keys();
    utimesSync(join(target, name), 1000, 1000);
    const before = packsIn(target);
    const { linkSync } = fs;
    const refuses = () => {
      throw Object.assign(new Error("no links"), { code: "EPERM" });
    };
    Object.assign(fs, { linkSync: refuses });
    syncBuiltinESMExports();
    try {
      const { takenBytes, manifest } = await backUp(directory, target);
      assert.equal(takenBytes, manifest.packBytes);
    } finally {
      Object.assign(fs, { linkSync });
      syncBuiltinESMExports();
    }
    assert.deepEqual([...packsIn(target).keys()], [...before.keys()]);
    assert.notEqual(packsIn(target).get(name), before.get(name));
    assert.equal(statSync(join(target, name)).mtimeMs, 1_000_000);
    await isWhole(context, target, directory);
  },
);

test("data of an older version, whose rows have no checksums, are backed up twice", options, async (context) => {
  const { directory } = await filledWithBlocks(context, 1);
  change(directory, backToBlocks);
  const target = join(folderOf(context), "backup");
  await backUp(directory, target);
  const second = await backUp(directory, target);
  assert.equal(second.takenBytes, second.manifest.packBytes);
  await isWhole(context, target, directory);
});

test("a check of a backup whose list of blocks is damaged tells what is damaged", options, async (context) => {
  const { directory } = await filledWithBlocks(context, 1);
  const target = join(folderOf(context), "backup");
  await backUp(directory, target);
  const tables = new DatabaseSync(join(target, "tables.db"));
  const [first, ...seqs] = tables.prepare("select seq from packed_block order by seq limit 8").all();
  const damages = [
    "length = 1 << 60",
    "length = -5",
    "length = 1 << 40",
    "at = -7",
    "at = 1 << 60",
    "at = 0.5",
    "pack = 1 << 60",
  ];
  assert.equal(seqs.length, damages.length);
  for (const [index, damage] of damages.entries())
    tables.exec(`update packed_block set ${damage} where seq = ${seqs[index]?.seq}`);
  tables.exec(`update packed_block set crc = 0 where seq = ${first?.seq}`);
  tables.close();
  const { findings } = await check({ directory: target, secretFile: undefined, pid }, work);
  assert.match(String(findings[0]?.problem), /its SHA-256 differs/);
  for (const row of seqs)
    assert.ok(
      findings.some(({ problem }) => problem.startsWith(`block ${row.seq} `)),
      `block ${row.seq}`,
    );
  assert.equal(findings.filter(({ device }) => device !== undefined).length, damages.length);
});

test("a backup of data of an older version, which has no blocks, is checked, replaced and restored", async (context) => {
  const { directory } = await filled(context, 1, 100);
  change(directory, backToBeforeBlocks);
  const target = join(folderOf(context), "backup");
  await backUp(directory, target);
  const { notes, manifest } = await backUp(directory, target);
  assert.deepEqual([notes, manifest.data, manifest.packBytes], [[], 12, 0]);
  assert.deepEqual((await check({ directory: target, secretFile: undefined, pid }, work)).findings, []);
  const restored = join(folderOf(context), "data");
  const secretFile = join(restored, "secret.key");
  await restore({ backup: target, directory: restored, secretFile, replace: false, pid }, work);
  assert.deepEqual((await check({ directory: restored, secretFile, pid }, work)).findings, []);
  await (await openStore(restored, silentLog, secretsOf(restored))).close();
  assert.equal(readBlocks(restored).tail, 1);
});

/** Backs up with small packs, in a process of its own. */
const backup = `
  const [module, directory, target] = process.argv.slice(1);
  const { makeBackup } = await import(module);
  const wish = { directory, target, secretFile: directory + "/secret.key", replace: true, full: false, withoutKeys: false };
  const work = { signal: new AbortController().signal, progress() {} };
  await makeBackup({ ...wish, program: "1", pid: process.pid, now: 0, packBytes: ${packBytes} }, work);
`;

test(
  "a backup that takes blocks over and is killed leaves the earlier one or the new one",
  options,
  async (context) => {
    const { directory, grow } = await filledWithBlocks(context);
    const target = join(folderOf(context), "backup");
    await backUp(directory, target);
    const module = new URL("../../src/store/backup/backup.ts", import.meta.url).href;
    const first = await positionsOf(target);
    const sizes = [first];
    for (let round = 0; round < 5; round++) {
      await grow(300);
      const child = spawn(process.execPath, ["--input-type=module", "-e", backup, module, directory, target]);
      await killedAfter(child, `${target}.part`, 40 * round);
      sizes.push(first + 300 * (round + 1));
      const found = await Promise.all(["", ".part/old", ".part/new"].map((name) => wholeAt(`${target}${name}`)));
      const positions = found.find((count) => count !== undefined);
      assert.ok(positions !== undefined && sizes.includes(positions), `round ${round}: ${found.join()}`);
    }
    const made = await backUp(directory, target);
    assert.ok(made.takenBytes > 0);
    assert.deepEqual(readdirSync(join(target, "..")), ["backup"]);
    await isWhole(context, target, directory);
  },
);

async function positionsOf(target: string): Promise<number> {
  return (await wholeAt(target)) ?? assert.fail("no whole backup");
}

/** How many positions a whole backup has. */
async function wholeAt(target: string): Promise<number | undefined> {
  try {
    const { findings, positions } = await check({ directory: target, secretFile: undefined, pid }, work);
    return findings.length === 0 ? positions : undefined;
  } catch {
    return undefined;
  }
}
