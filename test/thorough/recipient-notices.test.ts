import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { call, dataFolder, type Service, startService } from "../support/service.ts";
import { SmtpPeer } from "../support/smtp-peer.ts";

interface Notice {
  readonly recipient: string;
  readonly state: string;
  readonly reason: string | null;
}

describe("notices to people outside the account, by the whole service", () => {
  const mail = new SmtpPeer();
  const directory = dataFolder();
  let service: Service;
  let reported = 0;
  const start = () =>
    startService(directory, {
      WAYBEAM_MAIL_HOST: "127.0.0.1",
      WAYBEAM_MAIL_PORT: String(mail.port),
      WAYBEAM_MAIL_SECURITY: "opportunistic",
      WAYBEAM_MAIL_FROM: "alerts@waybeam.example",
      WAYBEAM_RECIPIENTS_URL: "https://track.example.com/",
    });
  before(async () => {
    await mail.listen();
    service = await start();
  });
  after(async () => {
    await service.stop();
    await mail.close();
  });

  /** Two reports: a slow one, and one that is too fast. OsmAnd's speed is in knots. */
  async function speed(device: string): Promise<void> {
    for (const knots of [5, 100]) {
      const timestamp = Math.floor(Date.now() / 1000) - 5000 + ++reported;
      const query = `id=${device}&lat=4.6&lon=${-74 + reported / 1e4}&speed=${knots}&timestamp=${timestamp}`;
      const answer = await fetch(`http://127.0.0.1:${service.devicePort}/?${query}`, { method: "POST" });
      assert.equal(answer.status, 200);
    }
  }

  /** The notices of a device, newest first, once there are so many and all have ended. */
  async function notices(owner: Service, device: string, count: number): Promise<readonly Notice[]> {
    for (;;) {
      const path = `/api/devices/${device}/notifications`;
      const { notifications } = await call<{ notifications: Notice[] }>(owner, "GET", path);
      if (notifications.length >= count && notifications.every(({ state }) => /sent|failed|suppressed/.test(state)))
        return notifications;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  const rule = (device: string, to: string) => ({
    ...{ name: "Fast", type: "speedOver", parameters: { kmh: 80 }, devices: [device] },
    channels: { email: [{ to }] },
    notifyWhenOver: false,
  });
  const mailsTo = (to: string) => mail.taken.filter((taken) => taken.to[0] === to);
  const plain = (raw: string) => raw.replaceAll("=\r\n", "").replaceAll("=3D", "=");

  test("wait for the recipient's answer in a second account, and in the first they don't; a refusal ends them", async () => {
    await call(service, "POST", "/api/devices", { id: "first-1" });
    await call(service, "POST", "/api/alertRules", rule("first-1", "first@example.org"));
    await speed("first-1");
    assert.equal((await notices(service, "first-1", 1))[0]?.state, "sent");

    const { operatorKey } = JSON.parse(readFileSync(join(directory, "credentials.json"), "utf8"));
    const owner = { name: "Eva", email: "eva@example.com", country: "CO", timeZone: "America/Bogota" };
    const made = await call<{ account: { id: string }; owner: { apiKey: string } }>(
      { ...service, token: operatorKey },
      ...(["POST", "/api/admin/accounts"] as const),
      { name: "North", timeZone: "America/Bogota", licenses: 5, owner },
    );
    const access = { userName: owner.email, apiKey: made.owner.apiKey };
    const { token } = await call<{ token: string }>(service, "POST", "/api/Auth/Token", access);
    let north: Service = { ...service, token };
    // A device and a rule for each alert: the e-mails of one rule have a pause between them.
    for (const at of [1, 2, 3]) await call(north, "POST", "/api/devices", { id: `north-${at}` });
    const to = "ops@example.org";
    for (const at of [1, 2, 3]) await call(north, "POST", "/api/alertRules", rule(`north-${at}`, to));
    await mail.until(() => mailsTo(to).length === 1);
    await speed("north-1");
    assert.deepEqual(
      (await notices(north, "north-1", 1)).map(({ state, reason }) => [state, reason]),
      [["suppressed", "the recipient has not confirmed that it wants the account's notices"]],
    );
    assert.equal(mailsTo(to).length, 1, "the code, and no notice");

    const question = plain(mailsTo(to)[0]?.raw ?? "");
    const code = /this code: (\d{8})/.exec(question)?.[1] ?? "";
    assert.ok(question.includes(`https://track.example.com/recipients#${made.account.id}/ops%40example.org`));
    assert.ok(question.includes("by track.example.com."));

    // The code and who answered outlast the process.
    await service.kill();
    service = await start();
    north = { ...service, token };
    const answer = (wish: string) =>
      call(service, "POST", "/api/recipients/answer", { account: made.account.id, to, code, answer: wish });
    await answer("confirm");
    await speed("north-2");
    assert.equal((await notices(north, "north-2", 1))[0]?.state, "sent");
    assert.equal(mailsTo(to).length, 2);

    await answer("refuse");
    await speed("north-3");
    const [newest] = await notices(north, "north-3", 1);
    assert.deepEqual([newest?.state, newest?.reason], ["suppressed", "the recipient refused the account's notices"]);
    assert.equal(mailsTo(to).length, 2);
  });
});
