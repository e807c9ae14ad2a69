import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { beginRestore, dropRestore } from "../../src/store/backup/placing.ts";
import { backedUp, filled } from "../support/backup-folders.ts";
import { crashFleet } from "../support/crash-fleet.ts";
import { until } from "../support/gateway.ts";
import { compareLast } from "../support/ledger.ts";
import { type Location, withoutTotals } from "../support/location-content.ts";
import { call, folderOf, register, type Service, startService } from "../support/service.ts";
import { openStore } from "../support/store.ts";
import { commandLine, killedAfter } from "../support/waybeam.ts";

const options = { timeout: 100_000 };

async function history(service: Service, device: string): Promise<readonly Location[]> {
  const body = { from: "2000-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z" };
  return (await call<{ locations: Location[] }>(service, "POST", `/api/devices/${device}/locations`, body)).locations;
}

const textOf = (location: Location) => JSON.stringify(Object.entries(withoutTotals(location).content).toSorted());

test(
  "a backup under load holds all that was acknowledged before it began, and a service runs on it",
  options,
  async (context) => {
    const directory = folderOf(context);
    const service = await startService(directory);
    context.after(() => service.kill());
    const trackers = crashFleet();
    const drop = () => {
      for (const tracker of trackers) tracker.drop();
    };
    context.after(drop);
    await register(
      service,
      trackers.map(({ device }) => device),
    );
    for (const tracker of trackers) tracker.run(service.devicePort);
    await until(() => trackers.every(({ acked }) => acked > 20));
    const before = trackers.map(({ acked }) => acked);
    const target = join(folderOf(context), "new/backup");
    const { waybeam } = commandLine(directory);
    const { code, err } = await waybeam(["backup", target]);
    assert.equal(code, 0, err);
    assert.ok(
      trackers.every(({ acked }, index) => acked > (before[index] ?? 0)),
      "the service went on meanwhile",
    );
    const read = await waybeam(["check"]);
    assert.equal(read.code, 0, read.out + read.err);
    drop();
    await service.kill();
    assert.deepEqual(readdirSync(target).toSorted(), [
      ...["backup.json", "credentials.json", "positions.db", "secret.key", "waybeam.db"],
    ]);
    for (const name of readdirSync(target)) assert.equal(statSync(join(target, name)).mode & 0o777, 0o600, name);
    assert.equal(statSync(target).mode & 0o777, 0o700);

    const restored = join(folderOf(context), "data");
    const put = await commandLine(restored).waybeam(["restore", target]);
    assert.equal(put.code, 0, put.err);
    const other = await startService(restored);
    context.after(() => other.kill());
    for (const [index, tracker] of trackers.entries()) {
      const stored = await history(other, tracker.device);
      const texts = new Set(stored.map(textOf));
      for (let message = 0; message < (before[index] ?? 0); message++)
        for (const content of tracker.expected(message))
          assert.ok(
            texts.has(JSON.stringify(Object.entries(content).toSorted())),
            `${tracker.device}: ${message} is missing`,
          );
      await compareLast(other, tracker.device, stored);
    }
    assert.equal(await other.stop(), 0);
  },
);

test(
  "a backup that is killed at any moment leaves nothing that is taken for whole, and the next one works",
  options,
  async (context) => {
    const { directory } = await filled(context);
    const target = join(folderOf(context), "backup");
    const { start, waybeam } = commandLine(directory);
    let whole = 0;
    for (let round = 0; round < 7; round++) {
      const child = start(["backup", "--replace", target]);
      await killedAfter(child, `${target}.part`, 35 * round);
      if (!existsSync(target)) continue;
      whole++;
      const read = await waybeam(["check", target]);
      assert.equal(read.code, 0, read.out + read.err);
    }
    context.diagnostic(`${whole} of 7 times there was a whole one`);
    const cut = await waybeam(["restore", `${target}.part`], "", { WAYBEAM_DATA: join(folderOf(context), "data") });
    assert.equal(cut.code, 1);
    const { code, err } = await waybeam(["backup", "--replace", target]);
    assert.equal(code, 0, err);
    assert.deepEqual(readdirSync(join(target, "..")), ["backup"]);
  },
);

/** A disk of 64 KB in a namespace of its own, where the system lets a user make one. */
const onSmallDisk = [
  "-rm",
  "sh",
  "-c",
  'mount -t tmpfs -o size=64k tmpfs "$0" && "$@"; code=$?; ls -A "$0"; exit $code',
];
const hasSmallDisk = spawnSync("unshare", [...onSmallDisk, "/mnt", "true"]).status === 0;

test("a disk without room is told, and nothing is left on it", { skip: !hasSmallDisk }, async (context) => {
  const { directory } = await filled(context, 1, 2000);
  const disk = folderOf(context);
  const program = join(import.meta.dirname, "../../src/main.ts");
  const backup = [process.execPath, program, "backup", join(disk, "backup")];
  const env = { ...process.env, WAYBEAM_DATA: directory };
  const { status, stdout, stderr } = spawnSync("unshare", [...onSmallDisk, disk, ...backup], { env, encoding: "utf8" });
  assert.equal(status, 1, stderr);
  assert.match(stderr, /the disk of .* has 0\.1 MB free, and up to \d\.\d MB are needed\n {2}Free some space/);
  assert.equal(stdout, "");
});

test("Ctrl-C ends a backup at once and leaves nothing of it", options, async (context) => {
  const { directory } = await filled(context);
  const target = join(folderOf(context), "backup");
  const child = commandLine(directory).start(["backup", target]);
  const exit = once(child, "exit");
  // It may be whole before anybody looks.
  await until(() => existsSync(`${target}.part`) || existsSync(target));
  child.kill("SIGINT");
  const [code] = await exit;
  assert.ok(code === 130 || code === 0, String(code));
  assert.deepEqual(readdirSync(join(target, "..")), code === 0 ? ["backup"] : []);
});

test(
  "a restore that is killed at any moment leaves the data as they were or as they are in the backup",
  options,
  async (context) => {
    const old = await filled(context, 1, 500);
    const target = await backedUp(context, (await filled(context)).directory);
    const { start, waybeam } = commandLine(old.directory);
    const outcomes: string[] = [];
    for (let round = 0; round < 6; round++) {
      const child = start(["restore", "--replace", target]);
      await killedAfter(child, old.directory, 30 * round);
      await (await openStore(old.directory)).close();
      const read = await waybeam(["check"]);
      assert.equal(read.code, 0, read.out + read.err);
      assert.match(read.err, /\b(500 positions of 1 devices|6000 positions of 3 devices)\b/);
      outcomes.push(/ 500 pos/.test(read.err) ? "as they were" : "restored");
    }
    context.diagnostic(outcomes.join(", "));
    const { code, err } = await waybeam(["restore", "--replace", target]);
    assert.equal(code, 0, err);
    assert.ok(!existsSync(join(old.directory, "restore.part")));
  },
);

/** Changes a database of a stopped data folder behind the service's back. */
function spoil(directory: string, act: (database: DatabaseSync) => void, name = "waybeam.db"): void {
  const database = new DatabaseSync(join(directory, name));
  act(database);
  database.exec("pragma wal_checkpoint(truncate)");
  database.close();
}

test("damaged records are told by device and time, and no backup is made of them", options, async (context) => {
  const { directory, ids } = await filled(context);
  const { waybeam } = commandLine(directory);
  const keep = readFileSync(join(directory, "positions.db"));
  const spoils = [
    ["a changed value", (data: Uint8Array) => (data[data.length - 30] = (data[data.length - 30] ?? 0) ^ 1)],
    ["a zeroed end", (data: Uint8Array) => data.fill(0, data.length - 40)],
  ] as const;
  for (const [what, change] of spoils) {
    writeFileSync(join(directory, "positions.db"), keep);
    // The last row of the log is the last device's.
    const change1 = (database: DatabaseSync) => {
      const { seq, data } = database.prepare("select seq, data from log order by seq desc limit 1").get() ?? {};
      assert.ok(data instanceof Uint8Array && typeof seq === "number");
      change(data);
      database.prepare("update log set data = ? where seq = ?").run(data, seq);
    };
    spoil(directory, change1, "positions.db");
    const { code, out, err } = await waybeam(["check"]);
    assert.equal(code, 1, `${what}: ${out}${err}`);
    assert.match(out, new RegExp(`^device ${ids[2]}, positions from \\S+Z to \\S+Z: row \\d+ .*damaged`), what);
    assert.equal(out.split("\n").length, 2, `${what} concerns one device: ${out}`);
    const target = join(folderOf(context), "backup");
    const made = await waybeam(["backup", target]);
    assert.equal(made.code, 1);
    assert.match(made.err, new RegExp(`damaged \\(device ${ids[2]}\\)`));
    assert.ok(!existsSync(target) && !existsSync(`${target}.part`));
  }
});

test("a damaged page is told, and everything else is read", options, async (context) => {
  const { directory } = await filled(context, 3, 4000);
  const file = join(directory, "positions.db");
  const sizes = new DatabaseSync(file);
  const pageSize = Number(sizes.prepare("pragma page_size").get()?.page_size);
  const leaf = "select pageno from dbstat where name = 'log' and pagetype = 'leaf' order by path desc limit 1";
  const page = Number(sizes.prepare(leaf).get()?.pageno);
  sizes.close();
  rmSync(`${file}-wal`, { force: true });
  const bytes = readFileSync(file);
  bytes.fill(0, (page - 1) * pageSize, page * pageSize);
  writeFileSync(file, bytes);
  const { waybeam } = commandLine(directory);
  const { code, out, err } = await waybeam(["check"]);
  assert.equal(code, 1, out + err);
  assert.match(out, /positions\.db: /);
  assert.match(out, /the table log can't be read to its end/);
  const target = join(folderOf(context), "backup");
  const made = await waybeam(["backup", target]);
  assert.equal(made.code, 1, made.err);
  assert.match(made.err, /damaged[\s\S]*waybeam check/);
  assert.deepEqual(readdirSync(join(target, "..")), []);
});

test("a link as a backup's place stays, and the backups are where it leads to", options, async (context) => {
  const { directory } = await filled(context, 1, 100);
  const { waybeam } = commandLine(directory);
  const place = folderOf(context);
  const disk = folderOf(context);
  const real = join(disk, "newest");
  const target = join(place, "newest");
  mkdirSync(real);
  symlinkSync(real, target);
  for (const more of [[], ["--replace"], ["--replace"]]) {
    const { code, err } = await waybeam(["backup", ...more, target]);
    assert.equal(code, 0, err);
    assert.deepEqual([readdirSync(place), readdirSync(disk)], [["newest"], ["newest"]]);
    assert.equal(readlinkSync(target), real);
    assert.ok(existsSync(join(real, "backup.json")));
  }
});

test("what must not be a backup's place or source is refused, and nothing is written", options, async (context) => {
  const { directory } = await filled(context, 1, 100);
  const { waybeam } = commandLine(directory);
  const place = folderOf(context);
  const target = await backedUp(context, directory);
  mkdirSync(join(place, "full"));
  writeFileSync(join(place, "full", "thesis.tex"), "years");
  const newer = await filled(context, 1, 100);
  spoil(newer.directory, (database) => database.exec("insert into migration values (999, 'next')"));
  const refused = async (args: string[], why: RegExp, data = directory, exit = 1) => {
    const { code, err } = await waybeam(args, "", { WAYBEAM_DATA: data });
    assert.equal(code, exit, `${args.join(" ")}: ${err}`);
    assert.match(err, why);
    assert.ok(err.trim().split("\n").length >= 2, `says what to do next: ${err}`);
  };
  const fresh = join(place, "fresh");
  await refused(["backup", directory], /the data folder itself/);
  await refused(["backup", join(directory, "new/one")], /inside the data folder/);
  await refused(["backup", target], /holds a backup already/);
  for (const more of [[], ["--replace"]]) await refused(["backup", ...more, join(place, "full")], /not empty/);
  await refused(["backup", fresh], /no data folder/, join(place, "nothing"));
  await refused(["backup", fresh], /no data folder/, join(place, "full"));
  await refused(["backup", fresh], /newer program/, newer.directory);
  await refused(["check"], /newer program/, newer.directory);
  assert.deepEqual(readdirSync(place), ["full"]);
  assert.deepEqual(readdirSync(join(place, "full")), ["thesis.tex"]);

  await refused(["restore", target], /holds data already/);
  await refused(["restore", join(place, "full")], /is no backup/, fresh);
  const manifest = join(target, "backup.json");
  const said = readFileSync(manifest, "utf8");
  writeFileSync(manifest, said.replace(/"data": \d+/, '"data": 999'));
  await refused(["restore", target], /newer program/, fresh);
  writeFileSync(manifest, said.slice(0, 50));
  await refused(["restore", target], /damaged/, fresh);
  writeFileSync(manifest, said);
  const database = join(target, "positions.db");
  const bytes = readFileSync(database);
  bytes[bytes.length - 5000] = (bytes[bytes.length - 5000] ?? 0) ^ 1;
  writeFileSync(database, bytes);
  await refused(["restore", target], /damaged: positions\.db is not the file/, fresh);
  assert.ok(!existsSync(join(fresh, "waybeam.db")));
});

test("a backup without keys needs the key from elsewhere; one with the key says so", options, async (context) => {
  const directory = folderOf(context);
  const service = await startService(directory);
  context.after(() => service.kill());
  const { waybeam } = commandLine(directory);
  const target = join(folderOf(context), "backup");
  const made = await waybeam(["backup", "--without-keys", target]);
  assert.equal(made.code, 0, made.err);
  assert.match(made.err, /The secret key is not in it\. Keep .*secret\.key too/);
  assert.deepEqual(readdirSync(target).toSorted(), ["backup.json", "positions.db", "waybeam.db"]);
  // Never under a running service.
  const used = await waybeam(["restore", "--replace", target]);
  assert.equal(used.code, 8, used.err);
  const fresh = folderOf(context);
  const keyless = await commandLine(fresh).waybeam(["restore", target]);
  assert.equal(keyless.code, 1);
  assert.match(keyless.err, /sealed by a key that is not in .*\n.*Put the key there/);
  for (const name of ["secret.key", "credentials.json"])
    writeFileSync(join(fresh, name), readFileSync(join(directory, name)), { mode: 0o600 });
  const restored = await commandLine(fresh).waybeam(["restore", target]);
  assert.equal(restored.code, 0, restored.err);
  await service.stop();
  const other = await startService(fresh);
  context.after(() => other.kill());
  const answer = await fetch(`${other.url}/api/devices`, { headers: { authorization: `Bearer ${service.token}` } });
  assert.equal(answer.status, 200, "a token of the one is one of the other: the key opened its secret");
  assert.equal(await other.stop(), 0);
});

const notRoot = process.getuid?.() !== 0 && "only the superuser gives files away";

test("what the superuser makes in the service's folder is the service's, and nothing else", {
  ...options,
  skip: notRoot,
}, async (context) => {
  const service = 12_345;
  const { directory } = await filled(context, 1, 100);
  const target = await backedUp(context, directory);
  const lock = join(directory, "lock.db");
  const give = () => {
    for (const path of ["", ...readdirSync(directory)]) chownSync(join(directory, path), service, service);
  };
  const foreign = () =>
    readdirSync(directory, { recursive: true, encoding: "utf8" }).filter(
      (name) => statSync(join(directory, name)).uid !== service,
    );
  rmSync(lock);
  give();
  const { waybeam } = commandLine(directory);
  assert.equal((await waybeam(["check"])).code, 0);
  assert.deepEqual(foreign(), []);
  beginRestore(directory);
  assert.deepEqual(foreign(), []);
  dropRestore(directory);
  assert.equal((await waybeam(["restore", "--replace", target])).code, 0);
  assert.deepEqual(foreign(), []);
  const other = join(folderOf(context), "other");
  writeFileSync(other, "");
  rmSync(lock);
  symlinkSync(other, lock);
  await waybeam(["restore", "--replace", target]);
  assert.equal(statSync(other).uid, 0);
});
