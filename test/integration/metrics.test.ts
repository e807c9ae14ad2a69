import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { hashApiKey } from "../../src/auth/api-key.ts";
import { startMetrics } from "../../src/http/metrics-server.ts";
import { dataFolder, removeFolder, startService } from "../support/service.ts";

const token = "t".repeat(32);

async function get(url: string, authorization?: string): Promise<number> {
  const answer = await fetch(url, authorization === undefined ? {} : { headers: { authorization } });
  await answer.arrayBuffer();
  return answer.status;
}

test("metrics have an address of their own, with a token where one is set", async (context) => {
  const text = async () => "waybeam_up 1\n";
  const open = await startMetrics("127.0.0.1:0", { text, tokenHash: undefined });
  context.after(() => open.stop());
  const answer = await fetch(open.url);
  assert.deepEqual([answer.status, await answer.text()], [200, "waybeam_up 1\n"]);
  assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
  assert.equal(answer.headers.get("server"), null);
  assert.equal(await get(open.url.replace("/metrics", "/api/devices")), 404);
  assert.equal((await fetch(open.url, { method: "POST", body: "x" })).status, 404);
  const closed = await startMetrics("[::1]:0", { text, tokenHash: hashApiKey(token) }).catch(() => undefined);
  // A machine without IPv6.
  if (closed === undefined) return;
  context.after(() => closed.stop());
  assert.deepEqual(
    [await get(closed.url), await get(closed.url, "Bearer x"), await get(closed.url, `Bearer ${token}`)],
    [401, 401, 200],
  );
});

/** What a service with these settings answers on its public port, without and with the token. */
async function asked(environment: Record<string, string>): Promise<readonly number[]> {
  const directory = dataFolder();
  const service = await startService(directory, { WAYBEAM_METRICS_TOKEN: "", ...environment });
  try {
    const listen = environment.WAYBEAM_METRICS_LISTEN;
    return [
      await get(`${service.url}/metrics`),
      await get(`${service.url}/metrics`, `Bearer ${token}`),
      ...(listen === undefined ? [] : [await get(`http://${listen}/metrics`, `Bearer ${token}`)]),
      await get(`${service.url}/health/live`),
    ];
  } finally {
    await service.stop();
    removeFolder(directory);
  }
}

test("the public port tells no metrics unless a token is set and no other address", async (context) => {
  assert.deepEqual(await asked({}), [404, 404, 200]);
  assert.deepEqual(await asked({ WAYBEAM_METRICS_TOKEN: token }), [401, 200, 200]);
  // The test has the port at one address, so that nobody else is given it before the service has it at another.
  const holder = createServer().listen(0, "127.0.0.1");
  context.after(() => holder.close());
  await once(holder, "listening");
  const address = holder.address();
  assert.ok(typeof address === "object" && address !== null);
  const listen = `127.0.0.2:${address.port}`;
  assert.deepEqual(await asked({ WAYBEAM_METRICS_LISTEN: listen }), [404, 404, 200, 200]);
});

test("the documentation names no metric that there is not", async (context) => {
  const directory = dataFolder();
  const service = await startService(directory);
  context.after(async () => {
    await service.stop();
    removeFolder(directory);
  });
  const named = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([name]) => name);
  const known = new Set(named(await service.metrics(), /(?<=^# TYPE )waybeam_\w+/gm));
  // Its senders register theirs where they are configured.
  const isOfSender = (name: string) => /^waybeam_(?:sms|mail)_/.test(name);
  const docs = join(import.meta.dirname, "../../docs");
  const unknown = readdirSync(docs)
    .filter((file) => file.endsWith(".md"))
    .flatMap((file) =>
      named(readFileSync(join(docs, file), "utf8"), /\bwaybeam_\w+/g).map((name) => `${file}: ${name}`),
    )
    .filter((line) => !known.has(line.replace(/^.*: /, "")) && !isOfSender(line.replace(/^.*: /, "")));
  assert.deepEqual(unknown, []);
});
