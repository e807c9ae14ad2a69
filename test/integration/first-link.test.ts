import assert from "node:assert/strict";
import { unlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startSummary } from "../../src/cli/commands/serve.ts";
import { readStored } from "../../src/credentials-file.ts";
import { folderOf } from "../support/service.ts";
import { Running } from "../support/settings.ts";

const password = "correct horse battery";

/** Starts the service, does something with its link, and stops it. */
async function started<T>(directory: string, act: (service: Running) => T | Promise<T>): Promise<T> {
  const service = await Running.start({}, directory);
  try {
    return await act(service);
  } finally {
    await service.stop();
  }
}

test("every start prints the link that sets the owner's password, until it was used; the key of the command line stays", async (context) => {
  const directory = folderOf(context);
  const tokenOf = ({ app }: Running) => new URL(app.firstLink ?? "about:blank#").hash.slice(1);
  const { apiKey } = await started(directory, async (service) => {
    assert.equal(service.app.firstLink, `${service.app.url}/first#${tokenOf(service)}`);
    assert.equal((await readStored(directory))?.firstToken, tokenOf(service));
    const atTerminal = startSummary(service.app, true);
    assert.ok(atTerminal.includes(`  ${service.app.firstLink}\n`));
    // What is no terminal is kept by somebody.
    const elsewhere = startSummary(service.app, false);
    assert.equal(elsewhere.includes(tokenOf(service)), false);
    assert.match(elsewhere, /\/first#TOKEN .* firstToken in .*credentials\.json/);
    return { apiKey: service.app.created?.apiKey };
  });
  await started(directory, async (service) => {
    const token = tokenOf(service);
    assert.match(token, /^[\w-]{43}$/);
    const body = JSON.stringify({ token, password });
    const headers = { "content-type": "application/json" };
    const first = () => service.request("POST", "/api/session/first", { headers, body });
    assert.deepEqual([(await first()).status, (await first()).status], [200, 404]);
  });
  await started(directory, async (service) => {
    assert.equal(service.app.firstLink, undefined);
    assert.doesNotMatch(startSummary(service.app, true) + startSummary(service.app, false), /password/);
    const stored = await readStored(directory);
    assert.equal(stored?.apiKey, apiKey);
    assert.equal((await service.call("GET", "/api/devices")).status, 200);
  });
});

test("a link that was lost is not made again: the owner has its key, which sets the password too", async (context) => {
  const directory = folderOf(context);
  const stored = await started(directory, () => readStored(directory));
  unlinkSync(join(directory, "credentials.json"));
  await started(directory, async (service) => {
    assert.equal(service.app.firstLink, undefined);
    const { json } = await service.token({ userName: stored?.userName, apiKey: stored?.apiKey });
    const { users } = (await service.call("GET", "/api/users", undefined, json.token)).json;
    const add = (name: string, value: unknown) => ({ op: "add", path: `/${name}`, value });
    const patch = [add("password", password), add("presentSecret", stored?.apiKey)];
    assert.equal((await service.call("PATCH", `/api/users/${users[0].id}`, patch, json.token)).status, 200);
  });
});
