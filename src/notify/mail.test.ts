import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { afterEach, beforeEach, describe, it } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { selfSigned } from "../../test/support/certificate.ts";
import { silentLog } from "../../test/support/silent-log.ts";
import { SmtpPeer } from "../../test/support/smtp-peer.ts";
import { systemClock } from "../observe/clock.ts";
import type { Mail, Mailer } from "../ports/mailer.ts";
import { createMailer, type MailSettings } from "./mail.ts";

const mail: Mail = { id: "n-1", to: "ana@example.org", subject: "Camión ☂", text: "Ñandú\n", html: "<p>Ñandú</p>" };
const standard = getCACertificates("default");

describe("mail by SMTP", () => {
  let peer: SmtpPeer;
  let mailer: Mailer | undefined;
  beforeEach(() => {
    peer = new SmtpPeer();
  });
  afterEach(async () => {
    await mailer?.close();
    await peer.close();
    setDefaultCACertificates(standard);
  });

  const start = async (settings: Partial<MailSettings> = {}, port?: number) => {
    mailer = createMailer(
      {
        host: "127.0.0.1",
        port: port ?? (await peer.listen()),
        security: "opportunistic",
        user: "",
        password: "",
        from: "Alerts, Truck <alerts@waybeam.example>",
        connections: 2,
        timeoutSeconds: 1,
        ...settings,
      },
      { clock: systemClock, log: silentLog },
    );
    return mailer;
  };

  it("has what a mail of a machine must have", async () => {
    const sent = await (await start()).send(mail);
    assert.equal(sent.outcome, "accepted");
    const [taken] = peer.taken;
    assert.deepEqual([taken?.to, taken?.from, taken?.id], [["ana@example.org"], "alerts@waybeam.example", "n-1"]);
    const raw = taken?.raw ?? "";
    assert.match(raw, /^Message-ID: <n-1@waybeam\.example>\r$/m);
    assert.match(raw, /^From: "Alerts, Truck" <alerts@waybeam\.example>\r$/m);
    assert.match(raw, /^To: ana@example\.org\r$/m);
    assert.match(raw, /^Auto-Submitted: auto-generated\r$/m);
    assert.match(raw, /^Subject: =\?UTF-8\?/m);
    assert.ok(Math.abs(Date.parse(/^Date: (.*)\r$/m.exec(raw)?.[1] ?? "") - Date.now()) < 60_000);
    assert.match(raw, /text\/plain; charset=utf-8[\s\S]*text\/html; charset=utf-8/);
  });

  it("goes to one address, whatever that looks like", async () => {
    const sender = await start();
    const lists = [
      "a@example.org, b@example.org",
      "a@example.org\r\nBcc: b@example.org",
      "A <a@example.org>",
      "g: a@b;",
      "a",
    ];
    for (const to of lists)
      assert.deepEqual(await sender.send({ ...mail, to }), { outcome: "refused", reason: "the address is not valid" });
    await sender.send({ ...mail, to: "o'neil+trucks@example.org", subject: "a\r\nBcc: b@example.org" });
    assert.deepEqual(
      peer.taken.map(({ to }) => to),
      [["o'neil+trucks@example.org"]],
    );
    assert.doesNotMatch(peer.taken[0]?.raw ?? "", /^bcc:/im);
  });

  it("is refused where the server refuses it, and tried again where it says later", async () => {
    const sender = await start();
    peer.recipient = () => 550;
    assert.deepEqual(await sender.send(mail), {
      outcome: "refused",
      reason: "the mail server refused it: 550 not this one",
    });
    peer.recipient = () => 451;
    assert.deepEqual(await sender.send(mail), {
      outcome: "unavailable",
      reason: "the mail server did not take it: 451 not this one",
    });
    peer.recipient = () => "take";
    peer.mail = () => 554;
    assert.equal((await sender.send(mail)).outcome, "refused");
    peer.mail = () => 452;
    assert.equal((await sender.send(mail)).outcome, "unavailable");
    peer.mail = () => "take";
    assert.equal((await sender.send(mail)).outcome, "accepted");
  });

  it("does not wait for ever for a server that is silent, and goes out when one that was down is back", async () => {
    const port = await peer.listen();
    const sender = await start({}, port);
    peer.mail = () => "silent";
    assert.deepEqual(await sender.send(mail), {
      outcome: "unavailable",
      reason: "the mail server did not answer in time",
    });
    await peer.close();
    assert.deepEqual(await sender.send(mail), {
      outcome: "unavailable",
      reason: "the mail server can't be used (ESOCKET)",
    });
    peer = new SmtpPeer();
    await peer.listen(port);
    assert.equal((await sender.send(mail)).outcome, "accepted");
  });

  it("leaves no connection behind that would keep the process, when it is closed while a server is silent", async () => {
    const server = createServer({ allowHalfOpen: true }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    assert.ok(address !== null && typeof address === "object");
    const sender = await start({ timeoutSeconds: 30 }, address.port);
    const connected = once(server, "connection");
    const sending = sender.send(mail);
    const [socket] = await connected;
    socket.on("error", () => {});
    // Silent from its first command on.
    socket.write("220 mail.example\r\n");
    await once(socket, "data");
    const open = () => process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap").length;
    const before = open();
    await sender.close();
    assert.equal((await sending).outcome, "unavailable");
    await new Promise(setImmediate);
    const left = open();
    socket.destroy();
    server.close();
    assert.equal(left, before - 1);
  });

  it("has as many connections as it may, which are used again", async () => {
    const sender = await start({ timeoutSeconds: 30 });
    peer.delayMs = () => 5;
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) => sender.send({ ...mail, id: `m${index}` })),
    );
    assert.ok(results.every(({ outcome }) => outcome === "accepted"));
    assert.equal(peer.mostOpen, 2);
    assert.equal(peer.connections, 2);
  });

  for (const security of ["starttls", "tls"] as const)
    it(`goes over ${security} to a server whose certificate is trusted, with the password, and to no other`, async () => {
      const certificate = selfSigned();
      peer = new SmtpPeer({ ...certificate, secure: security === "tls" });
      peer.user = "us";
      peer.password = "s3cret";
      const settings = { security, user: "us", password: "s3cret", timeoutSeconds: 5 };
      const sender = await start(settings);
      assert.equal((await sender.send(mail)).outcome, "unavailable");
      assert.equal(peer.taken.length, 0);
      await sender.close();
      setDefaultCACertificates([...standard, certificate.cert]);
      assert.equal((await (await start(settings, peer.port)).send(mail)).outcome, "accepted");
      assert.deepEqual([peer.taken[0]?.secure, peer.taken[0]?.user], [true, "us"]);
      await mailer?.close();
      assert.deepEqual(await (await start({ ...settings, password: "wrong" }, peer.port)).send(mail), {
        outcome: "unavailable",
        reason: "the mail server refused our user name or password (535)",
      });
      assert.equal(peer.taken.length, 1);
    });

  it("goes to no server without TLS where it is wanted, and takes any certificate where it is not", async () => {
    assert.equal((await (await start({ security: "starttls" })).send(mail)).outcome, "unavailable");
    assert.equal((await (await start({ security: "tls" }, peer.port)).send(mail)).outcome, "unavailable");
    assert.equal(peer.offered, 0);
    await peer.close();
    peer = new SmtpPeer({ ...selfSigned(), disabledCommands: ["AUTH"] });
    assert.equal((await (await start()).send(mail)).outcome, "accepted");
    assert.equal(peer.taken[0]?.secure, true);
  });
});
