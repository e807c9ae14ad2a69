import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { User } from "../../src/model/account.ts";
import type { RuleCommand } from "../../src/ports/command-runner.ts";
import type { Outgoing } from "../../src/ports/dispatcher.ts";
import type { SmsBody, SmsResult, SmsSender } from "../../src/ports/sms.ts";
import { quick } from "../support/commands.ts";
import { endRest, type Rest, startRest } from "../support/rest.ts";
import { newUserOf } from "../support/users.ts";

describe("a command of a rule", () => {
  const written: Outgoing[] = [];
  const texts: SmsBody[] = [];
  let answer: SmsResult = { outcome: "accepted", ids: ["s1"] };
  const sms: SmsSender = {
    binary: false,
    parts: () => 1,
    send: async (_to, body) => {
      texts.push(body);
      return answer;
    },
    onReceipt: () => {},
    close: async () => {},
  };
  let rest: Rest;
  before(async () => {
    rest = await startRest({
      limits: quick,
      sms,
      dispatcher: {
        dispatch: async (_device, outgoing, _waitMs, beforeWrite) => {
          if (!(await beforeWrite())) return { outcome: "withheld" };
          written.push(outgoing);
          return { outcome: "answered", text: "done", ok: true };
        },
        onReachable: () => {},
        where: () => "nowhere" as const,
        onElsewhere: () => {},
      },
    });
    const token = await rest.ownerToken();
    await rest.call("POST", "/api/devices", { token, body: { id: "truck", min: "+573001112233" } });
  });
  after(() => endRest(rest));

  let made = 0;
  const userWith = async (fields: Partial<User>): Promise<number> => {
    const [account] = await rest.store.accounts.list();
    const id = `u${++made}`;
    const wish = newUserOf({ id, email: `${id}@example.org`, accountKey: account?.key ?? 0, ...fields });
    const user = await rest.store.users.create(wish, 0);
    return user === "emailInUse" ? 0 : user.key;
  };
  const run = (userKey: number, changes: Partial<RuleCommand> = {}) =>
    rest.http.commandRunner.run({
      ...{ id: `n${++made}`, deviceId: "truck", userKey, command: "stop", format: "Text", sms: false, encode: false },
      ...changes,
    });
  const records = async () =>
    (await rest.store.commands.list((await rest.store.devices.find("truck"))?.key ?? 0, undefined, 100)).length;

  it("is sent once, however often it is tried, and is a record in its user's name", async () => {
    const userKey = await userWith({ privileges: ["sendCommands"], deviceId: "truck" });
    const before = await records();
    const results = await Promise.all(Array.from({ length: 5 }, () => run(userKey, { id: "same" })));
    results.push(await run(userKey, { id: "same" }));
    assert.equal(new Set(results.map((result) => JSON.stringify(result))).size, 1);
    assert.equal(results[0]?.outcome, "accepted");
    assert.equal(written.length, 1);
    assert.equal(await records(), before + 1);
  });

  it("needs the rights of its user at that moment", async () => {
    const count = written.length;
    for (const [fields, reason] of [
      [{ privileges: ["read"], deviceId: "truck" }, "permission denied"],
      [{ privileges: ["sendSmsCommands"], deviceId: "truck" }, "permission denied"],
      [{ privileges: ["sendCommands"] }, "device not found"],
      [{ privileges: ["admin"], disabled: true }, "the user who set the rule's command is disabled or has expired"],
      [{ privileges: ["admin"], expires: 1 }, "the user who set the rule's command is disabled or has expired"],
    ] as const)
      assert.deepEqual(await run(await userWith(fields)), { outcome: "refused", reason });
    assert.deepEqual(await run(999_999), { outcome: "refused", reason: "the user who set the rule's command is gone" });
    assert.equal(written.length, count);
  });

  it("by SMS is counted to the device's day, tried again where the gateway can't, and not where it refuses", async () => {
    const userKey = await userWith({ privileges: ["admin"] });
    answer = { outcome: "unavailable", reason: "down" };
    const later = await run(userKey, { id: "sms", sms: true });
    assert.deepEqual(later, {
      outcome: "unavailable",
      reason: "Service Unavailable: the SMS gateway is not available: down",
      retryAfterMs: 60_000,
    });
    answer = { outcome: "accepted", ids: ["s1"] };
    assert.equal((await run(userKey, { id: "sms", sms: true })).outcome, "accepted");
    assert.equal(texts.length, 2);
    answer = { outcome: "refused", reason: "no such number" };
    assert.deepEqual(await run(userKey, { sms: true }), {
      outcome: "refused",
      reason: "the SMS gateway refused it: no such number",
    });
    const token = await rest.ownerToken();
    await rest.call("PUT", "/api/devices/truck/limits", { token, body: { dailyEmailLimit: 50, dailySmsLimit: 1 } });
    assert.deepEqual(await run(userKey, { sms: true }), { outcome: "suppressed", reason: "daily SMS limit reached" });
  });
});
