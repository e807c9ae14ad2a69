import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FoldedHistories } from "../../src/history/histories.ts";
import type { Alert } from "../../src/model/alert.ts";
import type { AlertRule } from "../../src/model/alert-rule.ts";
import { capsBy } from "../../src/model/caps.ts";
import type { Device, DeviceFields, DeviceKey } from "../../src/model/device.ts";
import type { NewNotice, Notice, NoticeTarget } from "../../src/model/notice.ts";
import { createMailer, type MailSettings } from "../../src/notify/mail.ts";
import { createOutbox, type Outbox } from "../../src/notify/outbox.ts";
import { createTelegramSender } from "../../src/notify/telegram.ts";
import { createWebhookSender } from "../../src/notify/webhook.ts";
import { createMetrics, systemIds } from "../../src/observe/index.ts";
import type { Bus } from "../../src/ports/bus.ts";
import type { CommandRunner } from "../../src/ports/command-runner.ts";
import type { Histories } from "../../src/ports/history.ts";
import type { Log } from "../../src/ports/log.ts";
import type { SmsSender } from "../../src/ports/sms.ts";
import type { Store } from "../../src/ports/store.ts";
import { commitAlerts, newAlert, newNotice, ruleFields } from "../contract/store/alert-values.ts";
import { makeAccount, makeDevice, unique } from "../contract/store/harness.ts";
import { createMemoryBus } from "./bus.ts";
import { capsOfTests, TestClock } from "./rest.ts";
import { silentLog } from "./silent-log.ts";
import { openStore } from "./store.ts";

/** The ways out of a bench. */
export interface BenchWays {
  readonly mail?: Partial<MailSettings> & { readonly port: number };
  readonly sms?: SmsSender;
  readonly commands?: CommandRunner;
  readonly allowPrivate?: boolean;
  readonly smsParts?: number;
  /** No pauses unless given. */
  readonly pauseMinutes?: number;
  readonly webhookMs?: number;
  readonly telegramUrl?: string;
  readonly log?: Log;
  /** False: the account is not the one that runs the service. */
  readonly firstAccount?: boolean;
}

const noCommands: CommandRunner = { run: async () => ({ outcome: "refused", reason: "no commands here" }) };

/** An outbox over a real store, with a device and a rule, whose clock can be set forward. */
export class OutboxBench {
  readonly store: Store;
  readonly bus: Bus = createMemoryBus();
  readonly clock = new TestClock();
  readonly metrics = createMetrics({ processMetrics: false });
  readonly device: Device;
  readonly rule: AlertRule;
  readonly outbox: Outbox;
  readonly histories: Pick<Histories, "lastBefore">;
  readonly #directory: string;

  private constructor(directory: string, store: Store, device: Device, rule: AlertRule, ways: BenchWays) {
    this.#directory = directory;
    this.store = store;
    this.device = device;
    this.rule = rule;
    // Nobody follows here: what is committed is the head.
    const heads = { head: async (key: DeviceKey) => (await store.follow.heads([key]))[0] };
    this.histories = new FoldedHistories({ ...store, heads });
    const { clock, bus, metrics, histories } = this;
    const { mail, sms, commands = noCommands, allowPrivate = true, smsParts = 1, webhookMs = 10_000 } = ways;
    const settings: MailSettings = {
      ...{ host: "127.0.0.1", port: 0, security: "opportunistic", user: "", password: "" },
      ...{ from: "alerts@waybeam.example", connections: 5, timeoutSeconds: 30 },
      ...mail,
    };
    this.outbox = createOutbox({
      ...{ store, histories, bus, clock, ids: systemIds, log: ways.log ?? silentLog, metrics },
      capsOf: capsBy(capsOfTests, ways.firstAccount === false ? 0 : this.device.accountKey),
      mailsAtOnce: settings.connections,
      pauseMinutes: ways.pauseMinutes ?? 0,
      ways: {
        mailer: mail && createMailer(settings, { clock, log: silentLog }),
        sms,
        commands,
        telegram: createTelegramSender({ url: ways.telegramUrl ?? "http://127.0.0.1:9" }, { log: silentLog }),
        webhooks: createWebhookSender({ allowPrivate, timeoutMs: webhookMs }, { clock, log: silentLog }),
        mapLink: "https://map.example/{latitude},{longitude}",
        smsParts,
      },
    });
  }

  static async make(ways: BenchWays = {}, fields: Partial<DeviceFields> = {}): Promise<OutboxBench> {
    const directory = await mkdtemp(join(tmpdir(), "waybeam-outbox-"));
    const store = await openStore(directory);
    const account = await makeAccount(store);
    const device = await makeDevice(store, account.key, fields);
    const rule = await store.alertRules.create(account.key, 1, unique("rule-"), ruleFields(), 0);
    return new OutboxBench(directory, store, device, rule, ways);
  }

  /** Commits an alert of the rule with a notice to each target, due now; gives the notices' ids. */
  async commit(
    targets: readonly NoticeTarget[],
    changes: Partial<Alert> = {},
    ofNotice: Partial<NewNotice> = {},
  ): Promise<readonly string[]> {
    const now = this.clock.now();
    const { key, id, name } = this.rule;
    const alert = newAlert(this.device.key, 1, {
      ruleKey: key,
      ruleId: id,
      name,
      time: now,
      raisedAt: now,
      ...changes,
    });
    const notices = targets.map((target) => newNotice(alert, { target, creation: now, dueAt: now, ...ofNotice }));
    await commitAlerts(this.store, this.device.key, [alert], notices);
    this.wake();
    return notices.map((notice) => notice.id);
  }

  /** What the service does after a commit. */
  wake(): void {
    this.bus.publish({ type: "noticesQueued" });
  }

  /** Sets the clock forward, and lets the outbox see what is due then. */
  pass(ms: number): void {
    this.clock.pass(ms);
    this.wake();
  }

  async notice(id: string | undefined): Promise<Notice> {
    const found = await this.store.notices.find(this.device.key, id ?? "");
    if (found === undefined) throw new Error(`there is no notice ${id}`);
    return found;
  }

  /** The notice, once it is so. */
  async until(id: string | undefined, holds: (notice: Notice) => boolean): Promise<Notice> {
    for (;;) {
      const notice = await this.notice(id);
      if (holds(notice)) return notice;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** The notices, once all have ended. */
  ended(ids: readonly string[]): Promise<readonly Notice[]> {
    return Promise.all(ids.map((id) => this.until(id, ({ finishedAt }) => finishedAt !== null)));
  }

  async close(): Promise<void> {
    await this.outbox.stop();
    await this.store.close();
    await rm(this.#directory, { recursive: true });
  }
}
