import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readlinkSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { queuedInSystem } from "./system-queue.ts";

const skip = process.platform !== "linux";

/** The file descriptor of a connection, which Node's types do not know of. */
function descriptorOf({ _handle }: Socket & { readonly _handle?: { readonly fd?: number } | null }): number {
  return _handle?.fd ?? -1;
}

/**
 * A connection, by its two ends. The client reads nothing before it is resumed. Returns undefined where the machine
 * does not have the address.
 */
async function connected(context: TestContext, host: string) {
  const server = createServer();
  server.listen(0, host);
  const failed = once(server, "error").then(() => false);
  if (!(await Promise.race([once(server, "listening").then(() => true), failed]))) return undefined;
  const accepted = once(server, "connection");
  const client = connect((server.address() as AddressInfo).port, host).pause();
  const [socket]: Socket[] = await accepted;
  context.after(() => {
    client.destroy();
    socket?.destroy();
    server.close();
  });
  return { socket: socket ?? assert.fail(), client };
}

for (const host of ["127.0.0.1", "::1"]) {
  test(`the system says what it holds for a peer at ${host}, and that it holds less when the peer reads`, {
    skip,
  }, async (context) => {
    const pair = await connected(context, host);
    if (pair === undefined) return context.skip(`no ${host}`);
    const { socket, client } = pair;
    const descriptor = descriptorOf(socket);
    assert.equal((await queuedInSystem([descriptor])).get(descriptor), 0);
    socket.write(Buffer.alloc(32 * 1024 * 1024));
    await wait(100);
    const queued = (await queuedInSystem([descriptor])).get(descriptor) ?? 0;
    assert.ok(queued > 0);
    client.resume();
    await once(socket, "drain");
    while ((await queuedInSystem([descriptor])).get(descriptor) !== 0) await wait(10);
  });
}

test("a descriptor of something else than a TCP connection, or of nothing, is left out", async () => {
  assert.deepEqual(await queuedInSystem([openSync("/dev/null", "r"), -1, 1_000_000]), new Map());
});

/** A connection whose bytes can be asked for, and its row in a table of the system, with 0x1234 bytes. */
async function listed(context: TestContext): Promise<{ readonly descriptor: number; readonly row: string }> {
  const { socket } = (await connected(context, "127.0.0.1")) ?? assert.fail();
  const descriptor = descriptorOf(socket);
  const inode = /\d+/.exec(readlinkSync(`/proc/self/fd/${descriptor}`))?.[0] ?? "";
  return { descriptor, row: rowOf("00001234", inode) };
}

function rowOf(bytes: string, inode: string): string {
  const text = `   1: 0100007F:1B58 0100007F:8000 01 ${bytes}:00000000 01:00000014 00000000     0        0 ${inode} 2 0000000000000000 20 4 30 10 -1`;
  return `${text.padEnd(149)}\n`;
}

test("a row is found wherever the pieces of a long table are cut", { skip }, async (context) => {
  const { descriptor, row } = await listed(context);
  const directory = mkdtempSync(join(tmpdir(), "table-"));
  context.after(() => rmSync(directory, { recursive: true }));
  const others = rowOf("00000001", "1").repeat(60);
  for (let cut = 0; cut <= row.length; cut++) {
    const table = join(directory, String(cut));
    // The first piece ends after `cut` bytes of the row.
    writeFileSync(table, `${" ".repeat(4095 - cut)}\n${row}${others}`);
    assert.deepEqual(await queuedInSystem([descriptor], [table]), new Map([[descriptor, 0x1234]]), `cut ${cut}`);
  }
});

test("nothing is read behind the last row that was asked for", { skip }, async (context) => {
  const { descriptor, row } = await listed(context);
  const directory = mkdtempSync(join(tmpdir(), "table-"));
  context.after(() => rmSync(directory, { recursive: true }));
  const pipe = join(directory, "table");
  execFileSync("mkfifo", [pipe]);
  // Its end never comes while the test has it open.
  const writing = openSync(pipe, "r+");
  context.after(() => closeSync(writing));
  writeSync(writing, row + rowOf("00000001", "1"));
  assert.deepEqual(await queuedInSystem([descriptor], [pipe]), new Map([[descriptor, 0x1234]]));
});

test("a table that can't be read says nothing", { skip }, async (context) => {
  const { descriptor } = await listed(context);
  assert.deepEqual(await queuedInSystem([descriptor], ["/proc/self/none", "/proc/self"]), new Map());
});
