import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { reachedAt } from "../credentials-file.ts";
import { findTrackers } from "./credentials.ts";

let data: string;
before(async () => {
  data = await mkdtemp(join(tmpdir(), "waybeam-credentials-"));
});
after(() => rm(data, { recursive: true }));

const host = (env = {}) => ({ env, readConfig: async () => ({ data, settings: [] }) });

test("where trackers connect is found as the service noted it, for every kind of host", async () => {
  const file = join(data, "credentials.json");
  for (const [listens, reached] of [
    ["0.0.0.0", "localhost"],
    ["::", "localhost"],
    ["127.0.0.2", "127.0.0.2"],
    ["::1", "::1"],
    ["trackers.example.com", "trackers.example.com"],
  ] as const) {
    await writeFile(file, JSON.stringify({ url: "http://localhost:1", trackers: reachedAt(listens, 8888) }));
    assert.deepEqual(await findTrackers(host()), { host: reached, port: 8888 }, listens);
  }
  assert.equal(await findTrackers(host(), undefined, "http://elsewhere"), undefined);
  assert.equal(await findTrackers(host({ WAYBEAM_URL: "http://elsewhere" })), undefined);
});

test("credentials without the trackers' address, damaged credentials and missing credentials name no address", async () => {
  const file = join(data, "credentials.json");
  for (const text of ["{}", '{"trackers":5}', '{"trackers":"a b"}', "nothing"]) {
    await writeFile(file, text);
    assert.equal(await findTrackers(host()), undefined, text);
  }
  await rm(file);
  assert.equal(await findTrackers(host()), undefined);
});
