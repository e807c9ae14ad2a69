import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createSmsSender } from "../../src/notify/index.ts";
import { createMailer } from "../../src/notify/mail.ts";
import { createMetrics, systemClock } from "../../src/observe/index.ts";
import type { Mailer } from "../../src/ports/mailer.ts";
import { type Answer, endRest, operatorKey, type Rest, type RestOptions, startRest } from "../support/rest.ts";
import { silentLog } from "../support/silent-log.ts";
import { SmppPeer } from "../support/smpp-peer.ts";
import { smppSettings } from "../support/sms-settings.ts";
import { SmtpPeer, type Taken } from "../support/smtp-peer.ts";

const limits = { requestsPerMinute: 100_000, tokenRequestsPerMinute: 10_000, tokenSeconds: 1_000_000 };
const phone = "+573001234567";

/** The code of a mail, and the account that it names. */
function read({ raw }: Taken): { readonly code: string; readonly account: string } {
  const text = raw.replaceAll("=\r\n", "");
  return { code: /this code: (\d{8})/.exec(text)?.[1] ?? "", account: /Account: .*\(([\w-]+)\)/.exec(text)?.[1] ?? "" };
}

describe("people outside the account", () => {
  const mail = new SmtpPeer();
  const gateway = new SmppPeer();
  let mailer: Mailer;
  let rest: Rest;
  let port = 0;
  before(async () => {
    mailer = createMailer(
      {
        ...{ host: "127.0.0.1", port: await mail.listen(), security: "opportunistic", user: "", password: "" },
        ...{ from: "alerts@waybeam.example", connections: 5, timeoutSeconds: 30 },
      },
      { clock: systemClock, log: silentLog },
    );
    port = await gateway.listen();
    rest = await start();
  });
  after(async () => {
    await endRest(rest);
    await mailer.close();
    await mail.close();
    await gateway.close();
  });

  async function start(options: RestOptions = {}): Promise<Rest> {
    const deps = { clock: systemClock, log: silentLog, metrics: createMetrics({ processMetrics: false }) };
    const sms = createSmsSender(smppSettings(port), deps);
    const made = await startRest({ limits, mailer, ...(sms && { sms }), ...options });
    const stop = async () => {
      await made.stop();
      await sms?.close();
    };
    return { ...made, stop };
  }

  let made = 0;
  /** A second account, with a device; what its owner may call. */
  async function tenant(fields: object = {}, on = rest) {
    const name = `North ${++made}`;
    const owner = { name: "Eva", email: `eva${made}@example.com`, country: "CO", timeZone: "America/Bogota" };
    const body = { name, timeZone: "America/Bogota", licenses: 5, ...fields, owner };
    const { account, owner: access } = (await on.call("POST", "/api/admin/accounts", { token: operatorKey, body }))
      .json;
    const key = { userName: access.email, apiKey: access.apiKey };
    const { token } = (await on.call("POST", "/api/Auth/Token", { body: key })).json;
    const device = `device-${made}`;
    const call = (method: string, url: string, sent?: unknown) => on.call(method, url, { token, body: sent });
    await call("POST", "/api/devices", { id: device });
    const rule = (channels: object) =>
      call("POST", "/api/alertRules", {
        ...{ name: "Fast", type: "speedOver", parameters: { kmh: 80 }, devices: [device], channels },
      });
    const states = async () =>
      (await call("GET", "/api/recipients")).json.recipients.map((each: { to: string; state: string }) => [
        each.to,
        each.state,
      ]);
    return { id: account.id as string, email: owner.email, call, rule, states };
  }

  const reply = (account: string, to: string, code: string, answer = "confirm", on = rest): Promise<Answer> =>
    on.call("POST", "/api/recipients/answer", { body: { account, to, code, answer } });
  const outcome = ({ status, json }: Answer) => (status === 200 ? json.state : [status, json.error]);
  /** The mail to an address that comes next. */
  async function mailTo(to: string, work: () => Promise<unknown>): Promise<Taken> {
    const before = mail.taken.length;
    await work();
    const sent = () => mail.taken.slice(before).find((taken) => taken.to[0] === to);
    await mail.until(() => sent() !== undefined);
    const found = sent();
    assert.ok(found);
    return found;
  }

  test("are asked when a rule that names them is saved, and answer by the code alone; users of the account are not asked", async () => {
    const { id, email, call, rule, states } = await tenant();
    let answered: Answer | undefined;
    const taken = await mailTo("ops@example.org", async () => {
      answered = await rule({ email: [{ to: "Ops@Example.org" }, { to: email.toUpperCase() }] });
    });
    assert.deepEqual(answered?.json.warnings, [
      "ops@example.org was sent a code, and gets notices when it has confirmed",
    ]);
    assert.deepEqual(await states(), [["ops@example.org", "pending"]]);
    const { code, account } = read(taken);
    assert.equal(account, id);
    const rule2 = await rule({ email: [{ to: "ops@example.org" }] });
    assert.equal(rule2.json.warnings.length, 1);
    assert.equal(mail.taken.filter(({ to }) => to[0] === "ops@example.org").length, 1, "its code is good still");
    const wrong = code === "11111111" ? "22222222" : "11111111";
    assert.deepEqual(outcome(await reply(id, "ops@example.org", wrong)), [409, "wrong code"]);
    assert.deepEqual(outcome(await reply("another", "ops@example.org", code)), [409, "wrong code"]);
    assert.deepEqual(outcome(await reply(id, "other@example.org", code)), [409, "wrong code"]);
    for (const method of ["GET", "HEAD"])
      assert.equal(
        (await rest.call(method, "/api/recipients/answer", {})).status,
        404,
        "what looks at links confirms nothing",
      );
    assert.deepEqual(await states(), [["ops@example.org", "pending"]]);
    assert.equal(outcome(await reply(id, "OPS@example.org", ` ${code.slice(0, 4)} ${code.slice(4)}`)), "confirmed");
    assert.deepEqual(await states(), [["ops@example.org", "confirmed"]]);
    assert.equal((await rule({ email: [{ to: "ops@example.org" }] })).json.warnings, undefined);
    assert.equal((await call("GET", "/api/account")).json.dailyEmails.used, 1);
  });

  test("are asked by SMS, and by a call, which sends another code and ends the one before", async () => {
    const { id, call, rule } = await tenant();
    const textOf = (at: number) => String(gateway.submits[at]?.short_message);
    const codeOf = (at: number) => /accept: (\d{8})/.exec(textOf(at))?.[1] ?? "";
    const before = gateway.submits.length;
    await rule({ sms: [{ to: "+57 300 123-4567" }] });
    await gateway.until(() => gateway.submits.length > before);
    assert.equal((await call("POST", "/api/recipients", { to: phone })).json.recipient.state, "pending");
    assert.equal(gateway.submits.length, before + 2);
    assert.equal((await call("GET", "/api/account")).json.dailySms.used, 2);
    assert.deepEqual(outcome(await reply(id, phone, codeOf(before))), [409, "wrong code"]);
    assert.equal(outcome(await reply(id, phone, codeOf(before + 1))), "confirmed");
    assert.match(textOf(before), /North .* wants .* by Waybeam\. .* To refuse, do nothing\./);
  });

  test("are asked again where it is not known that their code was sent: a crash may come before", async () => {
    let sent = 0;
    const ends: (() => void)[] = [];
    const asking: NonNullable<RestOptions["asking"]> = {
      parts: () => 1,
      send: () => {
        sent++;
        return new Promise((resolve) =>
          ends.push(() => resolve({ outcome: "unavailable", reason: "the test is over" })),
        );
      },
    };
    const crashing = await startRest({ limits, asking });
    try {
      const { rule } = await tenant({}, crashing);
      const save = () => rule({ email: [{ to: "lost@example.org" }] });
      assert.equal((await save()).status, 201);
      await save();
      assert.equal(sent, 1, "it may be on its way");
      crashing.clock.jump(11 * 60_000);
      await save();
      assert.equal(sent, 2);
    } finally {
      for (const end of ends) end();
      await endRest(crashing);
    }
  });

  test("are deleted, but for who refused, and not on the day of a code", async () => {
    const { id, call, rule, states } = await tenant();
    const [gone, no] = ["gone@example.org", "never@example.org"];
    const { code } = read(await mailTo(gone, () => rule({ email: [{ to: gone }] })));
    assert.equal(outcome(await reply(id, gone, code)), "confirmed");
    const refusing = read(await mailTo(no, () => call("POST", "/api/recipients", { to: no })));
    assert.equal(outcome(await reply(id, no, refusing.code, "refuse")), "refused");
    const { recipients } = (await call("GET", "/api/recipients")).json;
    const remove = (at: number) => call("DELETE", `/api/recipients/${recipients[at].id}`);
    assert.deepEqual(outcome(await remove(0)), [409, "recipient can't be deleted"]);
    const other = await tenant();
    assert.deepEqual(outcome(await other.call("DELETE", `/api/recipients/${recipients[0].id}`)), [
      404,
      "recipient not found",
    ]);
    rest.clock.jump(86_400_000);
    assert.equal((await remove(0)).status, 200);
    assert.deepEqual(outcome(await remove(0)), [404, "recipient not found"]);
    assert.deepEqual(outcome(await remove(1)), [409, "recipient can't be deleted"]);
    assert.deepEqual(await states(), [[no, "refused"]]);
    const again = read(await mailTo(gone, () => rule({ email: [{ to: gone }] })));
    assert.equal(outcome(await reply(id, gone, again.code)), "confirmed");
    rest.clock.jump(-86_400_000);
  });

  test("end a code by five wrong tries, and at seven days", async () => {
    const { id, call } = await tenant();
    const ask = (to: string) => mailTo(to, () => call("POST", "/api/recipients", { to }));
    const { code } = read(await ask("tries@example.org"));
    for (let at = 0; at < 5; at++)
      assert.equal((await reply(id, "tries@example.org", String(10_000_000 + at))).status, 409);
    assert.deepEqual(outcome(await reply(id, "tries@example.org", code)), [409, "wrong code"]);
    assert.equal((await call("GET", "/api/recipients")).json.recipients[0].codeExpires, null);
    const late = read(await ask("late@example.org"));
    rest.clock.jump(7 * 86_400_000);
    assert.deepEqual(outcome(await reply(id, "late@example.org", late.code)), [409, "wrong code"]);
    assert.equal(
      outcome(await reply(id, "late@example.org", late.code, "refuse")),
      "refused",
      "it may refuse at any time",
    );
    rest.clock.jump(-7 * 86_400_000);
  });

  test("refuse for good, before and after they confirmed: nobody asks them again for this account", async () => {
    const { id, call, rule, states } = await tenant();
    const to = "no@example.org";
    const { code } = read(await mailTo(to, () => rule({ email: [{ to }] })));
    assert.equal(outcome(await reply(id, to, code)), "confirmed");
    assert.equal(outcome(await reply(id, to, code, "refuse")), "refused");
    const before = mail.taken.length;
    assert.equal((await call("POST", "/api/recipients", { to })).json.recipient.state, "refused");
    assert.deepEqual((await rule({ email: [{ to }] })).json.warnings, [
      "no@example.org refused the account's notices, and gets none",
    ]);
    assert.equal(mail.taken.length, before);
    assert.deepEqual(await states(), [[to, "refused"]]);
    const other = await tenant();
    assert.equal(
      (await other.call("POST", "/api/recipients", { to })).json.recipient.state,
      "pending",
      "of this account",
    );
  });

  test("get three codes a day whichever accounts ask; two accounts' codes are good at once, each for its own", async () => {
    const to = "popular@example.org";
    const [north, south] = [await tenant(), await tenant()];
    const first = read(await mailTo(to, () => north.call("POST", "/api/recipients", { to })));
    const second = read(await mailTo(to, () => south.call("POST", "/api/recipients", { to })));
    assert.deepEqual(outcome(await reply(north.id, to, second.code)), [409, "wrong code"]);
    const both = await Promise.all([reply(north.id, to, first.code), reply(south.id, to, second.code)]);
    assert.deepEqual(both.map(outcome), ["confirmed", "confirmed"]);
    const [east, west] = [await tenant(), await tenant()];
    const asked = await Promise.all([east, west].map(({ call }) => call("POST", "/api/recipients", { to })));
    assert.deepEqual(asked.map(({ status }) => status).toSorted(), [200, 429]);
    const limited = asked.find(({ status }) => status === 429);
    assert.equal(limited?.json.error, "code limit reached");
    assert.ok(Number(limited?.headers["retry-after"]) > 0);
    rest.clock.jump(86_400_000);
    assert.equal((await west.call("POST", "/api/recipients", { to })).status, 200);
    rest.clock.jump(-86_400_000);
  });

  test("two saves at once send one code", async () => {
    const { rule } = await tenant();
    const to = "once@example.org";
    const channels = { email: [{ to }] };
    await mailTo(to, () => Promise.all([rule(channels), rule(channels), rule(channels)]));
    assert.equal(mail.taken.filter((taken) => taken.to[0] === to).length, 1);
  });

  test("a flood of recipients ends at its limit, and the rules that name them are saved all the same", async () => {
    const { call, rule } = await tenant();
    const before = mail.offered;
    const some = (of: number) => Array.from({ length: 20 }, (_, at) => ({ to: `flood-${of}-${at}@example.org` }));
    const answers = [];
    for (let of = 0; of < 4; of++) answers.push(await rule({ email: some(of) }));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201, 201, 201, 201],
    );
    const warnings: string[] = answers.flatMap(({ json }) => json.warnings);
    const refused = warnings.filter((text) => text.includes("the account sent too many codes today"));
    assert.deepEqual([warnings.length, refused.length], [80, 30]);
    assert.equal((await call("POST", "/api/recipients", { to: "one@example.org" })).status, 429);
    const { recipients, nextCursor } = (await call("GET", "/api/recipients?limit=30")).json;
    const rest2 = (await call("GET", `/api/recipients?limit=30&cursor=${nextCursor}`)).json;
    assert.deepEqual([recipients.length, rest2.recipients.length, rest2.nextCursor], [30, 20, undefined]);
    assert.equal((await call("GET", "/api/account")).json.dailyEmails.used, 50);
    await rest.stop();
    rest = await start({ directory: rest.directory });
    assert.ok(mail.offered - before <= 100);
  });

  test("codes count to the account's day, and an account has so many recipients; who never answered makes room", async () => {
    const own = await start({ codeLimits: { perAccount: 2 } });
    try {
      const { call, states } = await tenant({ dailyEmails: 3 }, own);
      const ask = async (to: string) => {
        const { status, json } = await call("POST", "/api/recipients", { to });
        return status === 200 ? status : json.error;
      };
      assert.deepEqual([await ask("a@example.org"), await ask("b@example.org")], [200, 200]);
      assert.equal(await ask("c@example.org"), "recipient limit reached");
      assert.equal(await ask("b@example.org"), 200);
      assert.equal(await ask("b@example.org"), "code limit reached");
      own.clock.jump(8 * 86_400_000);
      assert.equal(await ask("c@example.org"), 200);
      assert.deepEqual(
        (await states()).map(([to]: string[]) => to),
        ["b@example.org", "c@example.org"],
      );
    } finally {
      await endRest(own);
    }
  });

  test("a code that could not be sent is none: the caller is told, and can ask again", async () => {
    const { id, call, states } = await tenant();
    const to = "gone@example.org";
    mail.recipient = (address) => (address === to ? 550 : address.startsWith("busy") ? 450 : "take");
    const refused = await call("POST", "/api/recipients", { to });
    assert.deepEqual([refused.status, refused.json.error], [400, "Bad Request"]);
    const busy = await call("POST", "/api/recipients", { to: "busy@example.org" });
    assert.deepEqual([busy.status, busy.json.error], [503, "Service Unavailable"]);
    mail.recipient = () => "take";
    const recipients = (await call("GET", "/api/recipients")).json.recipients;
    assert.deepEqual(
      recipients.map(({ codeExpires }: { codeExpires: unknown }) => codeExpires),
      [null, null],
    );
    const { code } = read(await mailTo(to, () => call("POST", "/api/recipients", { to })));
    assert.equal(outcome(await reply(id, to, code)), "confirmed");
    assert.deepEqual(await states(), [
      [to, "confirmed"],
      ["busy@example.org", "pending"],
    ]);
  });

  test("a code is good after a restart", async () => {
    const { id, call } = await tenant();
    const to = "restart@example.org";
    const { code } = read(await mailTo(to, () => call("POST", "/api/recipients", { to })));
    await rest.stop();
    rest = await start({ directory: rest.directory });
    assert.equal(outcome(await reply(id, to, code)), "confirmed");
  });

  test("answers are limited by address, malformed ones too; others are not held up", async () => {
    const own = await start({ limits: { ...limits, tokenRequestsPerMinute: 3 } });
    try {
      const from = (address: string, body: unknown) =>
        own.call("POST", "/api/recipients/answer", { from: address, body }).then(({ status }) => status);
      const body = { account: "x", to: "a@example.org", code: "12345678", answer: "confirm" };
      const codes = [await from("192.0.2.1", body), await from("192.0.2.1", {}), await from("192.0.2.1", body)];
      assert.deepEqual([...codes, await from("192.0.2.1", body)], [409, 400, 409, 429]);
      assert.equal(await from("192.0.2.2", body), 409);
    } finally {
      await endRest(own);
    }
  });

  test("answer on a page that is the same for everybody and does nothing by itself", async () => {
    for (const [url, type] of [
      ["/recipients", "text/html; charset=utf-8"],
      ["/recipients.js", "text/javascript; charset=utf-8"],
    ] as const) {
      const { statusCode, headers, body } = await rest.http.inject(url);
      assert.deepEqual([statusCode, headers["content-type"]], [200, type]);
      assert.match(String(headers["content-security-policy"]), /^default-src 'none'/);
      assert.doesNotMatch(body, / on\w+=|https?:/);
      assert.equal((await rest.http.inject({ method: "HEAD", url })).statusCode, 200);
    }
  });

  test("of an account that does without are not asked: the first one, and those that the operator allows it", async () => {
    const token = await rest.ownerToken();
    const before = mail.offered;
    await rest.call("POST", "/api/devices", { token, body: { id: "own" } });
    const body = {
      ...{ name: "Fast", type: "speedOver", parameters: { kmh: 80 }, devices: ["own"] },
      channels: { email: [{ to: "anybody@example.org" }] },
    };
    assert.equal((await rest.call("POST", "/api/alertRules", { token, body })).json.warnings, undefined);
    const { id, call, rule } = await tenant({ unconfirmedRecipients: true });
    assert.equal((await rule({ email: [{ to: "anybody@example.org" }] })).json.warnings, undefined);
    assert.equal((await call("GET", "/api/account")).json.unconfirmedRecipients, true);
    assert.equal(mail.offered, before);
    const patch = [{ op: "add", path: "/unconfirmedRecipients", value: null }];
    const url = `/api/admin/accounts/${id}`;
    const changed = await rest.call("PATCH", url, { token: operatorKey, body: patch });
    assert.equal(changed.json.account.unconfirmedRecipients, false);
    assert.equal((await rule({ email: [{ to: "anybody@example.org" }] })).json.warnings.length, 1);
  });

  test("an account's name is no place for a message: no links, no HTML, no lines of its own", async () => {
    const { call } = await tenant({ name: "WIN <b>now</b>\n\nhttps://evil.example/x visit www.evil.example" });
    const to = "name@example.org";
    const { raw } = await mailTo(to, () => call("POST", "/api/recipients", { to }));
    assert.doesNotMatch(raw, /evil\.example|<b>now|https?:\/\/evil/);
  });
});
