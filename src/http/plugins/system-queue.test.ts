import assert from "node:assert/strict";
import { once } from "node:events";
import { openSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { queuedInSystem } from "./system-queue.ts";

const skip = process.platform !== "linux";

/** The file descriptor of a connection, which Node's types do not know of. */
function descriptorOf({ _handle }: Socket & { readonly _handle?: { readonly fd?: number } | null }): number {
  return _handle?.fd ?? -1;
}

for (const host of ["127.0.0.1", "::1"]) {
  test(`the system says what it holds for a peer at ${host}, and that it holds less when the peer reads`, {
    skip,
  }, async (context) => {
    const server = createServer();
    server.listen(0, host);
    const failed = once(server, "error").then(() => false);
    if (!(await Promise.race([once(server, "listening").then(() => true), failed]))) return context.skip(`no ${host}`);
    const accepted = once(server, "connection");
    const client = connect((server.address() as AddressInfo).port, host).pause();
    const [socket]: Socket[] = await accepted;
    assert.ok(socket);
    context.after(() => {
      client.destroy();
      socket.destroy();
      server.close();
    });
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
