import assert from "node:assert/strict";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { addCredentials, readStored, updatePlaces } from "../../src/credentials-file.ts";
import { createLog, systemIds } from "../../src/observe/index.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { folderOf, startService } from "../support/service.ts";
import { commandLine } from "../support/waybeam.ts";

const uid = process.getuid?.();

/** Opens a store in a folder, does something while it is open, and gives what it logged. */
async function opened(directory: string, during: () => void = () => {}): Promise<readonly string[]> {
  const logged: string[] = [];
  const log = createLog("warn", { write: (line) => logged.push(line) });
  const store = await openSqliteStore({ directory, log, pid: process.pid, uid });
  during();
  await store.close();
  return logged;
}

/** Whether nobody but its owner has any right to it. */
const isClosed = (path: string) => (statSync(path).mode & 0o077) === 0;

/** Names in a folder, and whether the owner alone has rights to each. */
function openIn(directory: string): readonly string[] {
  return readdirSync(directory).filter((name) => !isClosed(join(directory, name)));
}

test("folder and files are made for their owner only, whatever the umask", async (context) => {
  const before = process.umask();
  context.after(() => void process.umask(before));
  for (const mask of [0, 0o022, 0o277]) {
    process.umask(mask);
    const directory = join(folderOf(context), "made/for/us");
    const logged = await opened(directory, () => {
      const names = readdirSync(directory);
      for (const name of ["waybeam.db", "waybeam.db-wal", "waybeam.db-shm", "lock.db", "lock.pid"])
        assert.ok(names.includes(name), name);
      assert.deepEqual(openIn(directory), []);
    });
    assert.ok(isClosed(directory));
    assert.deepEqual(logged, []);
    await addCredentials(directory, { url: "http://localhost" });
    assert.deepEqual(openIn(directory), []);
    // It can be used again.
    assert.deepEqual(await opened(directory), []);
  }
});

test("modes that are too wide are mended, which is said once; other files are left alone", async (context) => {
  const directory = folderOf(context);
  await opened(directory);
  for (const name of ["credentials.json", "token", "notes.txt"]) writeFileSync(join(directory, name), "{}");
  for (const name of readdirSync(directory)) chmodSync(join(directory, name), 0o664);
  chmodSync(directory, 0o755);
  const [said, ...more] = await opened(directory, () => {
    assert.ok(isClosed(directory));
    assert.deepEqual(openIn(directory), ["notes.txt"]);
  });
  const { message, mended } = JSON.parse(said ?? "{}");
  assert.match(message, /others could read these/);
  for (const name of ["", "/waybeam.db", "/credentials.json", "/token"])
    assert.ok(mended.includes(directory + name), name);
  assert.deepEqual(more, []);
  assert.deepEqual(await opened(directory), []);
});

test("a folder that all share is not closed, and that is said", async (context) => {
  const directory = folderOf(context);
  chmodSync(directory, 0o1777);
  const logged = await opened(directory, () => assert.deepEqual(openIn(directory), []));
  assert.equal(statSync(directory).mode & 0o7777, 0o1777);
  assert.match(logged.join(), /others can look into the data folder/);
});

test("a folder of another user is said", { skip: uid !== 0 && "only root makes one" }, async (context) => {
  const directory = folderOf(context);
  chownSync(directory, 65_534, 65_534);
  assert.match((await opened(directory)).join(), /belongs to another user.*chown/);
});

test("a secret key that is kept elsewhere is not mended, but it is said who can read it", async (context) => {
  const directory = folderOf(context);
  const file = join(folderOf(context), "key");
  writeFileSync(file, Buffer.alloc(32, 1).toString("base64"));
  chmodSync(file, 0o640);
  const logged: string[] = [];
  const log = createLog("warn", { write: (line) => logged.push(line) });
  for (const mode of [0o640, 0o600]) {
    chmodSync(file, mode);
    const secrets = { file, ids: systemIds };
    await (await openSqliteStore({ directory, log, pid: process.pid, uid, secrets })).close();
    assert.equal(statSync(file).mode & 0o777, mode);
  }
  assert.equal(logged.filter((line) => line.includes("others can read the secret key")).length, 1);
});

test("a link in the place of a file that is written is not followed", async (context) => {
  const directory = folderOf(context);
  const inside = (name: string) => join(directory, name);
  writeFileSync(inside("victim"), "untouched");
  const read = () => readFileSync(inside("victim"), "utf8");

  await opened(directory);
  rmSync(inside("lock.pid"), { force: true });
  for (const name of ["credentials.json", "credentials.json.new", "lock.pid"]) symlinkSync("victim", inside(name));
  await opened(directory);
  await updatePlaces(directory, { url: "http://localhost:1", trackers: "localhost:2" });
  assert.ok(lstatSync(inside("credentials.json")).isSymbolicLink());
  await addCredentials(directory, { userName: "u", url: "http://localhost:2" });
  assert.ok(lstatSync(inside("credentials.json")).isFile());
  assert.deepEqual(await readStored(directory), { userName: "u", url: "http://localhost:2" });
  assert.equal(read(), "untouched");
});

test("the service's own files, and the command line's token, are closed; keys are not told to what is no terminal", async (context) => {
  const directory = folderOf(context);
  mkdirSync(join(directory, "data"), { mode: 0o777 });
  const data = join(directory, "data");
  chmodSync(data, 0o777);
  const service = await startService(data);
  context.after(() => service.stop());
  const { waybeam } = commandLine(data);
  assert.equal((await waybeam(["device", "list"])).code, 0);
  assert.ok(isClosed(data));
  assert.deepEqual(openIn(data), []);
  assert.ok(readdirSync(data).includes("token"));
  assert.equal(await service.stop(), 0);
  assert.doesNotMatch(service.said(), /wb[ko]_/);
  assert.match(service.said(), /first start.*credentials\.json/);

  writeFileSync(join(directory, "victim"), "untouched");
  const linked = folderOf(context);
  symlinkSync(join(directory, "victim"), join(linked, "token"));
  const again = await startService(linked);
  context.after(() => again.stop());
  assert.equal((await commandLine(linked).waybeam(["device", "list"])).code, 0);
  assert.equal(readFileSync(join(directory, "victim"), "utf8"), "untouched");
});
