import assert from "node:assert/strict";
import { lookup } from "node:dns/promises";
import { readdirSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { HttpPeer } from "../../test/support/http-peer.ts";
import { NameServer } from "../../test/support/name-server.ts";
import { createResolve, type NameOptions } from "./names.ts";
import { createOutbound, type Outbound } from "./outbound.ts";

let peer: HttpPeer;
let dns: NameServer;
let folder: string;
let hostsFile: string;

beforeEach(async () => {
  peer = new HttpPeer();
  dns = new NameServer();
  folder = await mkdtemp(join(tmpdir(), "names-"));
  hostsFile = join(folder, "hosts");
  await Promise.all([peer.listen(), dns.listen(), writeFile(hostsFile, "127.0.0.1 localhost\n")]);
});

afterEach(async () => {
  await Promise.all([peer.close(), dns.close(), rm(folder, { recursive: true })]);
});

function outbound(options: Partial<NameOptions> = {}): (host: string) => Promise<Outbound> {
  const call = createOutbound({ ...settings(options), mostAnswer: 1000 });
  return (host) => call({ method: "POST", url: new URL(`http://${host}:${peer.port}/`), headers: {}, body: undefined });
}

function settings(options: Partial<NameOptions>): NameOptions {
  return { allowPrivate: true, timeoutMs: 10_000, nameServers: [dns.address], hostsFile, ...options };
}

function find(host: string, options: Partial<NameOptions> = {}): Promise<readonly string[]> {
  return new Promise((resolve, reject) =>
    createResolve(settings(options))(
      host,
      (error, found) => (error === null ? resolve(found.map(({ address }) => address)) : reject(error)),
      new AbortController().signal,
    ),
  );
}

/** Open files and sockets of this process; undefined where the system does not list them. */
function openFiles(): number | undefined {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return undefined;
  }
}

function wildcard(call: (host: string) => Promise<Outbound>, domain: string): Promise<Outbound>[] {
  return Array.from({ length: 50 }, (_, index) => call(`h${index}.${domain}`));
}

describe("names whose name server never answers", () => {
  for (const allowPrivate of [false, true])
    it(`hold up no other name, private ones ${allowPrivate ? "allowed" : "refused"}`, async () => {
      dns.names.set("good.example", "127.0.0.1");
      const call = outbound({ allowPrivate, timeoutMs: 3000 });
      let settled = 0;
      const silent = wildcard(call, "silent.example").map((waiting) => waiting.finally(() => settled++));
      await dns.askedFor(50);
      // A private address that is refused was found all the same.
      assert.equal((await call("good.example")).outcome, allowPrivate ? "answered" : "forbidden");
      // Names of the hosts file and of the system come through too, as those of mail servers do.
      assert.equal((await call("localhost")).outcome, allowPrivate ? "answered" : "forbidden");
      assert.ok((await lookup("localhost")).address);
      assert.equal(settled, 0);
      for (const outcome of await Promise.all(silent))
        assert.ok(outcome.outcome === "unreachable" && outcome.reason === "timeout", JSON.stringify(outcome));
    });

  it("leave nothing open when their calls end", async () => {
    // Several servers, so that asking all of them would take longer than the call.
    const others = [new NameServer(), new NameServer(), new NameServer()];
    await Promise.all(others.map((other) => other.listen()));
    try {
      const servers = [dns, ...others];
      const call = outbound({
        allowPrivate: false,
        timeoutMs: 500,
        nameServers: servers.map(({ address }) => address),
      });
      // What the first call loads stays open.
      await call("first.example");
      const before = openFiles();
      const silent = wildcard(call, "silent.example");
      await dns.askedFor(51);
      if (before !== undefined) assert.ok((openFiles() ?? 0) > before);
      await Promise.all(silent);
      await new Promise(setImmediate);
      assert.equal(openFiles(), before);
      assert.deepEqual(
        process.getActiveResourcesInfo().filter((kind) => /Query|GetAddrInfo/.test(kind)),
        [],
      );
    } finally {
      await Promise.all(others.map((other) => other.close()));
    }
  });

  it("take one thread at most where only the system can know them", async () => {
    const asked: string[] = [];
    let answer = () => {};
    const system: NameOptions["system"] = async (host) => {
      asked.push(host);
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return [];
    };
    dns.names.set("good.example", "127.0.0.1");
    const call = outbound({ system, timeoutMs: 1000 });
    const silent = wildcard(call, "local");
    assert.equal((await call("good.example")).outcome, "answered");
    await Promise.all(silent);
    assert.equal(asked.length, 1);
    assert.deepEqual(
      dns.asked.filter((name) => name.endsWith("local")),
      [],
    );
    const next = call("later.local");
    answer();
    while (asked.length < 2) await new Promise(setImmediate);
    answer();
    assert.equal((await next).outcome, "forbidden");
    assert.deepEqual(asked.slice(1), ["later.local"]);
  });
});

describe("a name", () => {
  it("is found though its server never answers about IPv6", async () => {
    dns.names.set("half.example", "127.0.0.1");
    dns.silentAboutV6.add("half.example");
    assert.deepEqual(await find("half.example"), ["127.0.0.1"]);
  });

  it("of the hosts file is what that file says, and DNS is not asked for it", async () => {
    dns.names.set("inner.example", "127.0.0.9");
    await writeFile(hostsFile, "# a comment\n127.0.0.1\tInner.example inner # two names\n::1 inner.example\nwrong b\n");
    assert.deepEqual(await find("inner.example."), ["127.0.0.1", "::1"]);
    assert.deepEqual(await find("inner"), ["127.0.0.1"]);
    assert.deepEqual(dns.asked, []);
    await writeFile(hostsFile, "");
    assert.deepEqual(await find("inner.example"), ["127.0.0.9"]);
  });

  it("of this machine is loopback without a hosts file, and never private where that is refused", async () => {
    assert.deepEqual(await find("a.localhost", { hostsFile: join(folder, "none") }), ["127.0.0.1", "::1"]);
    assert.equal((await outbound({ allowPrivate: false })("a.localhost")).outcome, "forbidden");
    assert.deepEqual(dns.asked, []);
  });

  it("that DNS does not know is asked of the system only where private ones are allowed", async () => {
    const asked: string[] = [];
    const system: NameOptions["system"] = async (host) => {
      asked.push(host);
      return [{ address: "10.0.0.1", family: 4 }];
    };
    dns.names.set("service.inner", undefined);
    assert.deepEqual(await find("service.inner", { system }), ["10.0.0.1"]);
    await assert.rejects(find("service.inner", { system, allowPrivate: false }), { code: "ENOTFOUND" });
    assert.deepEqual(asked, ["service.inner"]);
  });

  it("of this machine is found as the system finds it", async (test) => {
    const own = hostname().toLowerCase();
    const expected = await lookup(own, { all: true }).catch(() => []);
    if (expected.length === 0) return test.skip("the system does not know its own name");
    dns.names.set(own, undefined);
    const found = await find(own);
    assert.deepEqual(
      found,
      expected.map(({ address }) => address),
    );
  });

  it("that nobody knows, or whose servers can't be reached, is an unknown name; a refused connection is not", async () => {
    dns.names.set("none.example", undefined);
    const unknown = await outbound({ allowPrivate: false })("none.example");
    assert.ok(unknown.outcome === "unreachable" && unknown.reason === "unknown name");
    const away = new NameServer();
    await away.listen();
    const { address } = away;
    await away.close();
    const noServer = await outbound({ allowPrivate: false, nameServers: [address] })("a.example");
    assert.ok(noServer.outcome === "unreachable" && noServer.reason === "unknown name", JSON.stringify(noServer));
    const wrong = await outbound({ allowPrivate: false })(`${"x".repeat(70)}.example`);
    assert.ok(wrong.outcome === "unreachable" && wrong.reason === "unknown name");
  });
});
