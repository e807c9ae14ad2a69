import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { silentLog } from "../../test/support/silent-log.ts";
import { SmppPeer } from "../../test/support/smpp-peer.ts";
import type { Log } from "../ports/log.ts";
import type { SmsReceipt } from "../ports/sms.ts";
import smpp from "./smpp-library.ts";
import { type SmppOptions, SmppSender } from "./smpp-sender.ts";

/** Time that a test lets pass at once, ms. */
let skipped = 0;
const clock = { now: () => Date.now(), monotonic: () => performance.now() + skipped };

let peer: SmppPeer;
let port: number;
const senders: SmppSender[] = [];

function options(changes: Partial<SmppOptions>): SmppOptions {
  return {
    host: "127.0.0.1",
    port,
    tls: false,
    systemId: "waybeam",
    password: "hunter2",
    systemType: "",
    source: "Waybeam",
    window: 3,
    maxParts: 6,
    answerMs: 2000,
    enquireMs: 60_000,
    firstPauseMs: 20,
    mostPauseMs: 100,
    throttleMs: 100,
    ...changes,
  };
}

function start(changes: Partial<SmppOptions> = {}, log: Log = silentLog): SmppSender {
  const sender = new SmppSender(options(changes), { clock, log });
  senders.push(sender);
  return sender;
}

/**
 * Waits until the sender sees what the peer did: both are of this process, so a few turns of the loop are enough or it
 * never comes.
 */
async function untilTrue(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}

beforeEach(async () => {
  peer = new SmppPeer();
  port = await peer.listen();
});

afterEach(async () => {
  peer.release();
  await Promise.all(senders.splice(0).map((sender) => sender.close()));
  await peer.close();
});

describe("an SMPP sender", () => {
  it("binds as a transceiver of version 3.4 and sends a text as GSM 7-bit", async () => {
    const result = await start().send("+57 (300) 123-4567", { text: "reset# @€" });
    assert.deepEqual(result, { outcome: "accepted", ids: ["m1"] });
    const [bind] = peer.binds;
    assert.deepEqual([bind?.system_id, bind?.password, bind?.interface_version], ["waybeam", "hunter2", 0x34]);
    const [submit] = peer.submits;
    assert.ok(submit);
    const { destination_addr, dest_addr_ton, source_addr, source_addr_ton, registered_delivery } = submit;
    assert.deepEqual(
      { destination_addr, dest_addr_ton, source_addr, source_addr_ton, registered_delivery },
      {
        destination_addr: "573001234567",
        dest_addr_ton: 1,
        source_addr: "Waybeam",
        source_addr_ton: 5,
        registered_delivery: 1,
      },
    );
    assert.deepEqual([submit.data_coding, submit.esm_class], [0, 0]);
    assert.deepEqual(submit.short_message, Buffer.from([...Buffer.from("reset# "), 0x00, 0x1b, 0x65]));
  });

  it("sends other text as UCS-2 and bytes as 8-bit binary, as they are", async () => {
    const sender = start();
    await sender.send("123", { text: "привет" });
    await sender.send("123", { bytes: Buffer.from([0, 0x1b, 0xff, 0x80]) });
    assert.deepEqual(
      peer.submits.map((submit) => [submit.data_coding, submit.short_message]),
      [
        [8, Buffer.from("043f04400438043204350442", "hex")],
        [4, Buffer.from([0, 0x1b, 0xff, 0x80])],
      ],
    );
  });

  it("sends a long message in parts, each with its header, and gives an id for each", async () => {
    const result = await start().send("+1234567", { text: "x".repeat(400) });
    assert.deepEqual(result, { outcome: "accepted", ids: ["m1", "m2", "m3"] });
    const parts = peer.submits.map((submit) => submit.short_message as Buffer);
    assert.deepEqual(
      parts.map((part) => part.length),
      [159, 159, 6 + 94],
    );
    const [reference] = parts.map((part) => part[3]);
    assert.deepEqual(
      parts.map((part) => [...part.subarray(0, 6)]),
      [1, 2, 3].map((number) => [5, 0, 3, reference, 3, number]),
    );
    assert.ok(peer.submits.every((submit) => submit.esm_class === 0x40));
  });

  it("refuses what can't be sent, without asking the gateway", async () => {
    const sender = start();
    for (const [to, body] of [
      ["owner", { text: "x" }],
      ["+1234567", { text: "" }],
      ["+1234567", { bytes: new Uint8Array(6 * 134 + 1) }],
    ] as const)
      assert.equal((await sender.send(to, body)).outcome, "refused");
    assert.equal(peer.submits.length, 0);
  });

  it("keeps to the window, and all are answered", async () => {
    peer.held = [];
    const sender = start({ window: 3 });
    const results = Promise.all(Array.from({ length: 10 }, () => sender.send("+1234567", { text: "x" })));
    await peer.until(() => peer.submits.length === 3);
    await new Promise((resolve) => setTimeout(resolve, 30));
    assert.equal(peer.submits.length, 3);
    assert.equal(peer.mostOpen, 3);
    peer.release();
    assert.ok((await results).every(({ outcome }) => outcome === "accepted"));
  });

  it("gives the reason of a refusal", async () => {
    peer.react = () => smpp.errors.ESME_RINVDSTADR ?? 0;
    assert.deepEqual(await start().send("+1234567", { text: "x" }), {
      outcome: "refused",
      reason: "the SMS gateway answered ESME_RINVDSTADR",
    });
    peer.react = () => 0x0401;
    assert.match(JSON.stringify(await start().send("+1234567", { text: "x" })), /refused.*0x00000401/);
  });

  for (const code of ["ESME_RTHROTTLED", "ESME_RMSGQFUL"])
    it(`sends nothing for a while after ${code}`, async () => {
      peer.react = (_submit, index) => (index === 0 ? (smpp.errors[code] ?? 0) : 0);
      const sender = start({ throttleMs: 60_000 });
      const first = await sender.send("+1234567", { text: "x" });
      assert.deepEqual(first, {
        outcome: "unavailable",
        reason: `the SMS gateway answered ${code}`,
        retryAfterMs: 60_000,
        throttled: true,
      });
      const second = await sender.send("+1234567", { text: "x" });
      assert.equal(second.outcome, "unavailable");
      assert.equal(peer.submits.length, 1);
      skipped += 60_000;
      assert.equal((await sender.send("+1234567", { text: "x" })).outcome, "accepted");
    });

  it("goes on with a long message after it was throttled within it", async () => {
    peer.react = (_submit, index) => (index % 2 === 1 ? (smpp.errors.ESME_RTHROTTLED ?? 0) : 0);
    const result = await start({ throttleMs: 20 }).send("+1234567", { text: "x".repeat(400) });
    assert.deepEqual(result.outcome, "accepted");
    assert.deepEqual(
      peer.submits.map((submit) => (submit.short_message as Buffer)[5]),
      [1, 2, 2, 3, 3],
    );
  });

  it("says maybe where a submit is never answered, or the connection breaks before its answer", async () => {
    peer.react = () => "silent";
    const patient = start({ answerMs: 300 });
    await untilTrue(() => patient.connected);
    assert.equal((await patient.send("+1234567", { text: "x" })).outcome, "maybe");
    peer.react = () => "break";
    assert.equal((await start().send("+1234567", { text: "x" })).outcome, "maybe");
  });

  it("says unavailable where a part before the last one is lost: the phone shows nothing of it", async () => {
    peer.react = (_submit, index) => (index === 1 ? "break" : 0);
    const lost = await start().send("+1234567", { text: "x".repeat(400) });
    // The first was taken, the second perhaps; both may be paid.
    assert.ok(lost.outcome === "unavailable" && lost.sent === 2, JSON.stringify(lost));
  });

  it("tells how many parts were handed over of a message that is refused within it", async () => {
    peer.react = (_submit, index) => (index === 2 ? (smpp.errors.ESME_RINVDSTADR ?? 0) : 0);
    const refused = await start().send("+1234567", { text: "x".repeat(400) });
    assert.ok(refused.outcome === "refused" && refused.sent === 2, JSON.stringify(refused));
    peer.react = () => smpp.errors.ESME_RINVDSTADR ?? 0;
    assert.equal("sent" in (await start().send("+1234567", { text: "x" })), false);
  });

  it("counts the parts of a message as it sends them", () => {
    const sender = start();
    const bodies = [{ text: "x" }, { text: "x".repeat(400) }, { bytes: new Uint8Array(141) }];
    assert.deepEqual(
      bodies.map((body) => sender.parts(body)),
      [1, 3, 2],
    );
    assert.equal(sender.parts({ bytes: new Uint8Array(255 * 134 + 1) }), 256);
  });
});

describe("the connection of an SMPP sender", () => {
  it("comes back after a break, with a bind of its own", async () => {
    const sender = start();
    await sender.send("+1234567", { text: "1" });
    for (const text of ["2", "3"]) {
      peer.drop();
      await untilTrue(() => !sender.connected);
      await untilTrue(() => sender.connected);
      assert.equal((await sender.send("+1234567", { text })).outcome, "accepted");
    }
    assert.equal(peer.binds.length, 3);
  });

  it("says at once that the gateway is away, and sends when it is there", async () => {
    await peer.close();
    const sender = start();
    const away = await sender.send("+1234567", { text: "x" });
    assert.ok(away.outcome === "unavailable" && away.reason.includes("ECONNREFUSED"), JSON.stringify(away));
    peer = new SmppPeer();
    await peer.listen(port);
    await untilTrue(() => sender.connected);
    assert.equal((await sender.send("+1234567", { text: "x" })).outcome, "accepted");
  });

  it("tries again after a refused bind, and never logs the password", async () => {
    const lines: unknown[] = [];
    const keep = (...line: unknown[]) => void lines.push(line);
    const log: Log = { debug: keep, info: keep, warn: keep, error: keep, child: () => log };
    peer.bindStatus = smpp.errors.ESME_RINVPASWD ?? 0;
    const sender = start({}, log);
    const result = await sender.send("+1234567", { text: "x" });
    assert.match(JSON.stringify(result), /unavailable.*ESME_RINVPASWD/);
    peer.bindStatus = 0;
    await untilTrue(() => sender.connected);
    assert.ok(lines.length > 0);
    assert.doesNotMatch(JSON.stringify(lines), /hunter2/);
  });

  it("is given up when the gateway does not answer the keep-alive", async () => {
    peer.deaf = true;
    start({ enquireMs: 20, answerMs: 100 });
    await peer.until(() => peer.binds.length >= 2);
    assert.ok(peer.enquiries >= 1);
  });

  it("survives a gateway that speaks no SMPP, and one that ends the session", async () => {
    const sender = start();
    await untilTrue(() => sender.connected);
    peer.raw(Buffer.alloc(64, 0xff));
    await peer.until(() => peer.binds.length === 2);
    await untilTrue(() => sender.connected);
    peer.tell("unbind", {});
    await peer.until(() => peer.binds.length === 3);
    await untilTrue(() => sender.connected);
    assert.equal((await sender.send("+1234567", { text: "x" })).outcome, "accepted");
  });

  it("is not made where TLS is asked for and the gateway does not speak it", async () => {
    const result = await start({ tls: true, answerMs: 200 }).send("+1234567", { text: "x" });
    assert.equal(result.outcome, "unavailable");
    assert.equal(peer.binds.length, 0);
  });

  it("is unbound at the end, after the answers have come", async () => {
    peer.held = [];
    const sender = start();
    const result = sender.send("+1234567", { text: "x" });
    await peer.until(() => peer.submits.length === 1);
    const closed = sender.close();
    assert.equal((await sender.send("+1234567", { text: "y" })).outcome, "unavailable");
    peer.release();
    assert.equal((await result).outcome, "accepted");
    await closed;
    assert.equal(peer.unbinds, 1);
  });

  it("closes also where there is no gateway", async () => {
    await peer.close();
    await start().close();
  });
});

describe("delivery receipts", () => {
  async function received(deliveries: readonly Readonly<Record<string, unknown>>[]): Promise<SmsReceipt[]> {
    const sender = start();
    const receipts: SmsReceipt[] = [];
    sender.onReceipt(async (receipt) => {
      receipts.push(receipt);
    });
    await untilTrue(() => sender.connected);
    for (const fields of deliveries) peer.tell("deliver_sm", { esm_class: 4, ...fields });
    await peer.until(() => peer.receiptAnswers.length === deliveries.length);
    assert.deepEqual(new Set(peer.receiptAnswers), new Set([0]));
    return receipts;
  }

  const text = (id: string, state: string) =>
    Buffer.from(
      `id:${id} sub:001 dlvrd:001 submit date:2611211200 done date:2611211201 stat:${state} err:000 text:id:9 stat:X`,
    );

  it("come by the fields, or by the text", async () => {
    const receipts = await received([
      { receipted_message_id: "m1", message_state: 2 },
      { short_message: text("a_b@1", "DELIVRD") },
      { short_message: text("7", "UNDELIV") },
      { receipted_message_id: "m4", short_message: text("7", "EXPIRED") },
      { message_payload: text("8", "REJECTD") },
    ]);
    assert.deepEqual(receipts, [
      { id: "m1", delivered: true, state: "DELIVRD" },
      { id: "a_b@1", delivered: true, state: "DELIVRD" },
      { id: "7", delivered: false, state: "UNDELIV" },
      { id: "m4", delivered: false, state: "EXPIRED" },
      { id: "8", delivered: false, state: "REJECTD" },
    ]);
  });

  it("are not messages of phones, states of the way, or texts that name nothing; all of these are answered", async () => {
    const receipts = await received([
      { esm_class: 0, short_message: text("1", "DELIVRD") },
      { short_message: text("2", "ENROUTE") },
      { receipted_message_id: "m3", message_state: 1 },
      { esm_class: 0x20, receipted_message_id: "m3", message_state: 2 },
      { short_message: Buffer.from("hello") },
      { short_message: Buffer.from([0xff, 0x00, 0x80]), data_coding: 0xf5 },
      { esm_class: 0x44, short_message: Buffer.from([200, 0, 3]) },
    ]);
    assert.deepEqual(receipts, []);
  });

  it("are answered when they are recorded; one that can't be is asked for again", async () => {
    const sender = start();
    const recorded = Promise.withResolvers<void>();
    const heard: string[] = [];
    sender.onReceipt(async ({ id }) => {
      heard.push(id);
      await recorded.promise;
      if (id === "m1") throw new Error("the store is unavailable");
    });
    await untilTrue(() => sender.connected);
    for (const id of ["m1", "m2"])
      peer.tell("deliver_sm", { esm_class: 4, receipted_message_id: id, message_state: 2 });
    await untilTrue(() => heard.length === 2);
    assert.deepEqual(peer.receiptAnswers, []);
    recorded.resolve();
    await peer.until(() => peer.receiptAnswers.length === 2);
    assert.deepEqual(peer.receiptAnswers.toSorted(), [0, smpp.errors.ESME_RX_T_APPN]);
  });
});
