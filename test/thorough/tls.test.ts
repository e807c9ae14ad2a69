import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { connect as connectPlain } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { type App, startApp } from "../../src/app.ts";
import { loadConfig } from "../../src/config/index.ts";
import { createLog } from "../../src/observe/index.ts";
import { watchCertificate } from "../../src/tls/certificates.ts";
import { selfSigned } from "../support/certificate.ts";
import { until } from "../support/gateway.ts";
import { dataFolder, removeFolder } from "../support/service.ts";

const directory = dataFolder();
const inside = (name: string) => join(directory, name);
const first = selfSigned();
let app: App;

/** Writes a pair into a folder of its own, and lets the link lead there: as Kubernetes and certbot do. */
function renew(name: string, { cert, key }: { readonly cert: string; readonly key: string }): void {
  mkdirSync(inside(name));
  writeFileSync(inside(`${name}/cert.pem`), cert);
  writeFileSync(inside(`${name}/key.pem`), key, { mode: 0o600 });
  symlinkSync(name, inside("live.new"));
  renameSync(inside("live.new"), inside("live"));
}

before(async () => {
  renew("first", first);
  const files = { certificate: inside("live/cert.pem"), key: inside("live/key.pem") };
  const loaded = loadConfig({
    env: {
      WAYBEAM_DATA: inside("data"),
      WAYBEAM_HTTP_PORT: "0",
      WAYBEAM_DEVICE_PORT: "0",
      WAYBEAM_DEVICE_IDENTIFY_SECONDS: "2",
      WAYBEAM_LOG_LEVEL: "silent",
      WAYBEAM_HTTP_TLS_CERTIFICATE: files.certificate,
      WAYBEAM_HTTP_TLS_KEY: files.key,
      WAYBEAM_DEVICE_TLS_CERTIFICATE: files.certificate,
      WAYBEAM_DEVICE_TLS_KEY: files.key,
    },
  });
  assert.ok("config" in loaded);
  app = await startApp(loaded.config, process.pid);
});

after(async () => {
  await app?.stop();
  removeFolder(directory);
});

const httpPort = () => Number(new URL(app.url).port);

interface Answered {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

function ask(method: string, path: string, ca: string, body?: object, token?: string): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...(body && { "content-type": "application/json" }),
      ...(token && { authorization: `Bearer ${token}` }),
    };
    const sent = request(
      { host: "127.0.0.1", port: httpPort(), path, method, ca, agent: false, headers },
      (response) => {
        response.toArray().then((chunks) => {
          const { statusCode: status, headers: got } = response;
          resolve({ status, headers: got, body: Buffer.concat(chunks).toString() });
        }, reject);
      },
    );
    sent.on("error", reject);
    sent.end(body && JSON.stringify(body));
  });
}

/** A TLS connection whose handshake is done. */
async function secure(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ host: "127.0.0.1", port, ca: first.cert, ...options });
  await once(socket, "secureConnect");
  return socket;
}

/** All that a peer says until it closes. */
async function heard(socket: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  return text;
}

describe("HTTPS of the API", () => {
  it("answers who trusts the certificate, and tells browsers to come by nothing else", async () => {
    const { status, headers } = await ask("GET", "/health/live", first.cert);
    assert.equal(status, 200);
    assert.match(String(headers["strict-transport-security"]), /max-age=\d{8}/);
    assert.match(app.url, /^https:/);
    assert.equal(JSON.parse(readFileSync(app.credentialsFile, "utf8")).url, app.url);
  });

  it("gives who signs in a cookie that browsers send by HTTPS alone, and let no other host set", async () => {
    const token = new URL(app.firstLink ?? "about:blank").hash.slice(1);
    const body = { token, password: "correct horse battery" };
    const { status, headers } = await ask("POST", "/api/session/first", first.cert, body);
    assert.equal(status, 200);
    const [cookie = ""] = [headers["set-cookie"] ?? []].flat().map(String);
    assert.match(cookie, /^__Host-waybeam=[\w-]{43}; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
  });

  it("answers who has ended its side", async () => {
    const socket = await secure(httpPort(), { allowHalfOpen: true } as ConnectionOptions);
    socket.end("GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n".repeat(20));
    assert.equal((await heard(socket)).split("HTTP/1.1 200 ").length - 1, 20);
  });

  it("speaks neither plain HTTP nor TLS 1.1", async () => {
    await assert.rejects(fetch(app.url.replace("https", "http")));
    const old = { minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
    await assert.rejects(secure(httpPort(), old));
    for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) (await secure(httpPort(), { maxVersion })).destroy();
  });
});

describe("TLS of trackers", () => {
  const report = (id: string, second: number) =>
    `GET /?id=${id}&lat=48.1&lon=11.5&timestamp=${1_790_000_000 + second} HTTP/1.1\r\nHost: x\r\n\r\n`;

  before(async () => {
    const { userName, apiKey } = JSON.parse(readFileSync(app.credentialsFile, "utf8"));
    const { token } = JSON.parse((await ask("POST", "/api/Auth/Token", first.cert, { userName, apiKey })).body);
    const made = await ask("POST", "/api/devices", first.cert, { id: "tls-1" }, token);
    assert.equal(made.status, 201, made.body);
  });

  it("is on the port where plain connections go on to work", async () => {
    const tls = await secure(app.devicePort);
    tls.end(report("tls-1", 0));
    assert.match(await heard(tls), /^HTTP\/1\.1 200/);
    const plain = connectPlain(app.devicePort, "127.0.0.1");
    plain.end(report("tls-1", 1));
    assert.match(await heard(plain), /^HTTP\/1\.1 200/);
  });

  it("takes a long burst as slowly as it is stored, and answers all of it", async () => {
    const tls = await secure(app.devicePort);
    tls.end(Array.from({ length: 500 }, (_, second) => report("tls-1", 10 + second)).join(""));
    assert.equal((await heard(tls)).split("HTTP/1.1 200").length - 1, 500);
  });

  it("closes who never ends the handshake, and who breaks it", async () => {
    for (const bytes of [
      Buffer.of(0x16),
      Buffer.from("1603010200", "hex"),
      Buffer.from(`16${"ff".repeat(200)}`, "hex"),
    ]) {
      const socket = connectPlain(app.devicePort, "127.0.0.1");
      socket.on("error", () => {});
      socket.write(bytes);
      // An alert of TLS may come before.
      socket.resume();
      await once(socket, "close");
    }
    const tls = await secure(app.devicePort);
    tls.end(report("tls-1", 5));
    assert.match(await heard(tls), /^HTTP\/1\.1 200/);
  });
});

it("a renewed certificate is served without a restart, a bad pair never", async () => {
  const served = async (port: number) => {
    const socket = await secure(port, { rejectUnauthorized: false });
    const { raw } = socket.getPeerCertificate();
    socket.destroy();
    return raw.toString("base64");
  };
  const der = (pem: string) => pem.replace(/-----[^-]+-----|\s/g, "");
  const second = selfSigned();
  renew("bad", { cert: second.cert, key: first.key });
  // Longer than two looks: what is bad is not taken.
  await new Promise((resolve) => setTimeout(resolve, 11_000));
  for (const port of [httpPort(), app.devicePort]) assert.equal(await served(port), der(first.cert));
  renew("second", second);
  for (const port of [httpPort(), app.devicePort]) await until(async () => (await served(port)) === der(second.cert));
});

it("a certificate follows its files by what is in them, keeps the old pair while they are wrong, and says so once", async () => {
  const logged: string[] = [];
  const log = createLog("info", { write: (line) => logged.push(line) });
  const files = { certificate: inside("c.pem"), key: inside("k.pem") };
  await assert.rejects(watchCertificate(files, log), /can't read the certificate's file/);
  const pairs = [selfSigned(), selfSigned()] as const;
  writeFileSync(files.certificate, pairs[0].cert);
  writeFileSync(files.key, pairs[1].key);
  await assert.rejects(watchCertificate(files, log), /can't use the certificate/);
  writeFileSync(files.key, pairs[0].key);
  const watched = await watchCertificate(files, log);
  const seen: string[] = [];
  watched.onChange(({ cert }) => seen.push(cert));
  const wrong = [pairs[1].cert, pairs[1].cert.slice(0, 200), ""];
  for (const text of wrong) {
    writeFileSync(files.certificate, text);
    await watched.look();
    await watched.look();
  }
  rmSync(files.key);
  await watched.look();
  assert.equal(watched.pair.cert, pairs[0].cert);
  assert.deepEqual(seen, []);
  assert.ok(logged.length <= wrong.length + 1 && logged.length > 0, String(logged.length));
  writeFileSync(inside("new.pem"), pairs[1].cert);
  renameSync(inside("new.pem"), files.certificate);
  writeFileSync(files.key, pairs[1].key);
  await watched.look();
  assert.deepEqual(seen, [pairs[1].cert]);
  watched.stop();
});
