import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import type { Notice } from "../../src/model/notice.ts";
import type { Store } from "../../src/ports/store.ts";
import { commitAlerts, email, newAlert, newNotice, ruleFields } from "../contract/store/alert-values.ts";
import { unique } from "../contract/store/harness.ts";
import { behindStore } from "../support/engine.ts";
import { HttpPeer } from "../support/http-peer.ts";
import { dataFolder, register, removeFolder, type Service, startService } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";
import { SmtpPeer } from "../support/smtp-peer.ts";
import { openStore, secretsOf } from "../support/store.ts";

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const rounds = 4;

/** A tracker that speeds and slows in turn, over HTTP; a report that is not acknowledged is sent again. */
class Speeder {
  readonly id: string;
  #next = 0;
  #stopped = false;
  #running: Promise<void> | undefined;
  readonly #start = Math.floor(Date.now() / 1000) - 50_000;

  constructor(id: string) {
    this.id = id;
  }

  /** Alerts that the reports which were acknowledged must have raised. */
  get alerts(): number {
    return Math.ceil(this.#next / 2);
  }

  run(port: number): void {
    this.#stopped = false;
    this.#running = this.#run(port);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(port: number): Promise<void> {
    while (!this.#stopped) {
      const index = this.#next;
      // OsmAnd's speed is in knots.
      const speed = index % 2 === 0 ? 100 : 5;
      const query = `id=${this.id}&lat=4.6&lon=${-74 + index / 1e4}&speed=${speed}&timestamp=${this.#start + index}`;
      const answer = await fetch(`http://127.0.0.1:${port}/?${query}`, { method: "POST" }).catch(() => undefined);
      await answer?.body?.cancel().catch(() => {});
      if (answer?.status === 200) this.#next++;
      await wait(20);
    }
  }
}

describe("killed at random moments while alerts and their notices flow", () => {
  let directory = "";
  let mail: SmtpPeer;
  let hook: HttpPeer;
  beforeEach(async () => {
    directory = dataFolder();
    mail = new SmtpPeer();
    hook = new HttpPeer();
    await Promise.all([mail.listen(), hook.listen()]);
  });
  afterEach(async () => {
    await Promise.all([mail.close(), hook.close()]);
    removeFolder(directory);
  });

  const start = (connections = 5): Promise<Service> =>
    startService(directory, {
      WAYBEAM_MAIL_HOST: "127.0.0.1",
      WAYBEAM_MAIL_PORT: String(mail.port),
      WAYBEAM_MAIL_SECURITY: "opportunistic",
      WAYBEAM_MAIL_FROM: "alerts@waybeam.example",
      WAYBEAM_MAIL_CONNECTIONS: String(connections),
      WAYBEAM_WEBHOOKS_ALLOW_PRIVATE: "on",
      // All notices tell one recipient the same thing.
      WAYBEAM_NOTICES_PAUSE_MINUTES: "0",
    });
  /** What is done to the store while no service has it. */
  const withStore = async <T>(work: (store: Store) => Promise<T>): Promise<T> => {
    const store = await openStore(directory, silentLog, secretsOf(directory));
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  };
  const untilAllEnded = async () => {
    const behind = await behindStore(directory);
    while ((await behind.rows("select key from notice where finished_at is null limit 1")).length > 0) await wait(50);
    await behind.close();
  };
  /** Queues mails of one alert. */
  const queueMails = async (store: Store, deviceId: string, count: number) => {
    const device = await store.devices.find(deviceId);
    assert.ok(device);
    const [rule] = await store.alertRules.list(device.accountKey);
    assert.ok(rule);
    // Critical, so that all of the day's places are for these alerts.
    const fields = { id: unique(`${deviceId}-`), ruleKey: rule.key, ruleId: rule.id, critical: true };
    const alert = newAlert(device.key, 1, fields);
    const notices = Array.from({ length: count }, (_, index) =>
      newNotice(alert, { id: `${alert.id}-${index}`, target: email, creation: 0, dueAt: 0 }),
    );
    await commitAlerts(store, device.key, [alert], notices);
  };
  const noticesOf = async (store: Store, deviceId: string): Promise<readonly Notice[]> => {
    const device = await store.devices.find(deviceId);
    return device === undefined ? [] : store.notices.list(device.key, { limit: 100_000 });
  };
  /** Registers devices, with a rule of these fields for all. */
  const prepare = async (ids: readonly string[], fields: Parameters<typeof ruleFields>[0] = {}) => {
    const service = await start();
    await register(service, ids);
    await service.stop();
    await withStore(async (store) => {
      const [account] = await store.accounts.list();
      assert.ok(account);
      await store.accounts.replace(account.key, { ...account, timeZone: zoneAtNoon() });
      await store.alertRules.create(account.key, 1, "rule", ruleFields({ devices: ids, ...fields }), 0);
    });
  };

  it("every notice is recorded as sent, once, and its peer has it", async (context) => {
    const trackers = Array.from({ length: 8 }, (_, index) => new Speeder(`speeder-${index}`));
    const mailed = ["mailed-0", "mailed-1", "mailed-2"];
    const ids = [...trackers.map(({ id }) => id), ...mailed];
    const url = `http://127.0.0.1:${hook.port}/hook`;
    await prepare(ids, { channels: { email: [], sms: [], webhook: [{ url, secret: "0123456789abcdef" }] } });
    mail.delayMs = () => Math.random() * 40;
    hook.answer = (response) => void setTimeout(() => response.end(), Math.random() * 40);
    for (let round = 0; round < rounds; round++) {
      await withStore(async (store) => {
        for (const id of mailed) {
          const device = await store.devices.find(id);
          assert.ok(device);
          await store.devices.replace(device.key, { ...device, dailyEmailLimit: 10_000 }, 1);
          await queueMails(store, id, 60);
        }
      });
      const service = await start();
      for (const tracker of trackers) tracker.run(service.devicePort);
      await wait(200 + Math.random() * 800);
      await service.kill();
      for (const tracker of trackers) await tracker.stop();
    }
    const service = await start();
    await untilAllEnded();
    assert.equal(await service.stop(), 0);
    const [mails, calls] = [
      countOf(mail.taken.map(({ id }) => id)),
      countOf(hook.seen.map(({ headers }) => String(headers["webhook-id"]))),
    ];
    await withStore(async (store) => {
      for (const id of mailed) {
        const notices = await noticesOf(store, id);
        assert.equal(notices.length, rounds * 60);
        assertSent(notices, mails);
      }
      for (const { id, alerts } of trackers) {
        const notices = await noticesOf(store, id);
        assert.ok(
          alerts > 0 && (notices.length === alerts || notices.length === alerts + 1),
          `${id}: ${notices.length} notices of ${alerts}`,
        );
        assert.equal(new Set(notices.map(({ alertId }) => alertId)).size, notices.length);
        assertSent(notices, calls);
      }
    });
    const repeats = (counts: ReadonlyMap<string, number>) => [...counts.values()].filter((count) => count > 1).length;
    context.diagnostic(`${mails.size} mails, ${repeats(mails)} twice; ${calls.size} calls, ${repeats(calls)} twice`);
  });

  it("fifty senders of one device send as many mails as its day has places, and not one more", async (context) => {
    const [limit, queued] = [60, 400];
    await prepare(["limited"]);
    await withStore(async (store) => {
      const device = await store.devices.find("limited");
      assert.ok(device);
      await store.devices.replace(device.key, { ...device, dailyEmailLimit: limit }, 1);
      for (let part = 0; part < 4; part++) await queueMails(store, "limited", queued / 4);
    });
    mail.delayMs = () => 50 + Math.random() * 200;
    for (let round = 0; round < rounds; round++) {
      const service = await start(50);
      await wait(Math.random() * 400);
      await service.kill();
    }
    const service = await start(50);
    await untilAllEnded();
    await service.stop();
    const accepted = countOf(mail.taken.map(({ id }) => id));
    context.diagnostic(`${mail.taken.length} mails of ${accepted.size} ids, ${mail.mostOpen} at a time`);
    assert.equal(accepted.size, limit);
    await withStore(async (store) => {
      const notices = await noticesOf(store, "limited");
      const sent = notices.filter(({ state }) => state === "sent");
      assertSent(sent, accepted);
      assert.equal(sent.length, limit);
      const others = notices.filter(({ state }) => state !== "sent");
      assert.deepEqual(
        new Set(others.map(({ state, reason }) => `${state}: ${reason}`)),
        new Set(["suppressed: daily e-mail limit reached"]),
      );
      assert.equal(others.length, queued - limit);
      const [{ device, countedDay } = { device: 0, countedDay: "" }] = sent;
      assert.equal((await store.daily.sent(device, countedDay ?? "")).email, limit);
    });
  });
});

function assertSent(notices: readonly Notice[], atPeer: ReadonlyMap<string, number>): void {
  for (const { id, state, reason, finishedAt } of notices) {
    assert.deepEqual([state, reason], ["sent", null], id);
    assert.ok(finishedAt !== null);
    assert.ok((atPeer.get(id) ?? 0) > 0, `the peer does not have ${id}`);
  }
}

function countOf(ids: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

/** A time zone where no day ends during the test. */
function zoneAtNoon(): string {
  const behind = new Date().getUTCHours() - 12;
  return behind < 0 ? `Etc/GMT-${-behind}` : `Etc/GMT+${behind}`;
}
