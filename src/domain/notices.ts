import type { NoticeView } from "../contract/notice.ts";
import { formatInstant } from "../contract/time.ts";
import { ApiError } from "../errors/catalogue.ts";
import { holds, maySendSmsAlerts, type User } from "../model/account.ts";
import { mayCommand } from "../model/command.ts";
import type { DeviceKey } from "../model/device.ts";
import type { Notice, NoticeState, NoticeTarget } from "../model/notice.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { PageAsk } from "../ports/pages.ts";
import type { Store } from "../ports/store.ts";
import { createRuleRights } from "./alert-rule-rights.ts";
import { channelNames } from "./alerts.ts";
import type { Devices } from "./devices.ts";
import { type Listed, listedOf } from "./listed.ts";
import { createResendCount } from "./resend-count.ts";
import type { Visibility } from "./visibility.ts";

/** Notices of devices and what became of them. Calls fail with `deviceNotFound` where the user can't see the device. */
export interface Notices {
  /** Newest first. */
  page(user: User, deviceId: string, ask: PageAsk, state: NoticeState | undefined): Promise<Listed<NoticeView>>;
  /**
   * Queues a final one once more.
   * @throws ApiError `notificationNotFound` also where the user does not see its rule, `notificationUnfinished`,
   * `permissionDenied` where the user may not send by its channel, `notificationResent`, `tooManyRequests`
   */
  resend(user: User, deviceId: string, noticeId: string): Promise<NoticeView>;
}

/** What notices need of the service. */
export interface NoticesContext {
  readonly store: Pick<Store, "notices" | "alerts" | "alertRules" | "groups">;
  readonly devices: Pick<Devices, "find">;
  readonly visibility: Visibility;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly resends: ResendLimits;
}

/** How often notices may be sent again by hand. */
export interface ResendLimits {
  /** Each notice. */
  readonly ofNotice: number;
  /** Any of them, by a user in a minute. */
  readonly perMinute: number;
}

const damagedTarget = "its target is damaged in the database";

/** The notices over their store. */
export function createNotices({ store, devices, visibility, bus, clock, resends }: NoticesContext): Notices {
  const { notices, alerts, alertRules } = store;
  const rights = createRuleRights(store, visibility);
  const countResend = createResendCount({ bus, clock }, resends.perMinute);

  /** Whether the user sees the rule that a notice is of; of a deleted rule `admin` alone is told. */
  async function seesRuleOf(user: User, { alertId }: Notice): Promise<boolean> {
    if (holds(user, "admin")) return true;
    const { ruleId } = (await alerts.find(alertId)) ?? {};
    return ruleId !== undefined && (await visibleOf(user, new Set([ruleId]))).has(ruleId);
  }

  /** Of those rules the ones that are there and the user sees. */
  async function visibleOf(user: User, ids: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    const rules = await alertRules.some(user.accountKey, [...ids]);
    return new Set((await rights.visible(user, rules)).map(({ id }) => id));
  }

  async function viewsOf(user: User, device: DeviceKey, found: readonly Notice[]): Promise<NoticeView[]> {
    const told = await alerts.some(
      device,
      found.map(({ alertId }) => alertId),
    );
    const ofIds = new Map(told.map((alert) => [alert.id, alert]));
    const ruleIds = new Set(told.map(({ ruleId }) => ruleId));
    const visible = holds(user, "admin") ? undefined : await visibleOf(user, ruleIds);
    return found.map((notice) => {
      const alert = ofIds.get(notice.alertId);
      const view = noticeView(notice, alert?.name ?? null);
      return visible === undefined || visible.has(alert?.ruleId ?? "") ? view : withoutRecipient(view);
    });
  }

  return {
    async page(user, deviceId, ask, state) {
      const device = await devices.find(user, deviceId);
      const found = listedOf(await notices.page(device.key, ask, state && [state]));
      return { ...found, items: await viewsOf(user, device.key, found.items) };
    },
    async resend(user, deviceId, noticeId) {
      const device = await devices.find(user, deviceId);
      const notice = await notices.find(device.key, noticeId);
      if (notice === undefined || !(await seesRuleOf(user, notice))) throw new ApiError("notificationNotFound");
      if (notice.damaged !== undefined) throw new ApiError("notificationNotFound", [damagedTarget]);
      checkMaySend(user, notice.target);
      countResend(user);
      const queued = await notices.resend(notice.key, clock.now(), resends.ofNotice);
      if (queued === "open") throw new ApiError("notificationUnfinished");
      if (queued === "limit")
        throw new ApiError("notificationResent", [`each may be sent again ${resends.ofNotice} times`]);
      bus.publish({ type: "noticesQueued" });
      const [view] = await viewsOf(user, device.key, [queued]);
      if (view === undefined) throw new ApiError("notificationNotFound");
      return view;
    },
  };
}

/** What costs money or reaches into a vehicle asks for the privilege that setting it in a rule asks for. */
function checkMaySend(user: User, target: NoticeTarget): void {
  if (target.channel === "sms" && !maySendSmsAlerts(user))
    throw new ApiError("permissionDenied", ["needs the privilege sendSmsAlerts"]);
  if (target.channel === "command" && !mayCommand(user, target.sms ? "sms" : "data"))
    throw new ApiError("permissionDenied", [`needs the privilege ${target.sms ? "sendSmsCommands" : "sendCommands"}`]);
}

function noticeView(notice: Notice, alertName: string | null): NoticeView {
  const { id, alertId, target, damaged, state, attempts, creation, finishedAt } = notice;
  return {
    id,
    alertId,
    alertName,
    channel: isChat(target) ? "Telegram" : (channelNames[damaged ?? target.channel] ?? "Command"),
    recipient: damaged === undefined ? recipientOf(target) : null,
    state,
    reason: damaged === undefined ? notice.reason : (notice.reason ?? damagedTarget),
    attempts,
    creation: formatInstant(creation),
    finishedAt: finishedAt === null ? null : formatInstant(finishedAt),
  };
}

function isChat(target: NoticeTarget): boolean {
  return target.channel === "webhook" && target.format === "telegram";
}

/** What peers answer may name the recipient; only the reasons of what was suppressed are all our own. */
function withoutRecipient(view: NoticeView): NoticeView {
  return { ...view, recipient: null, reason: view.state === "suppressed" ? view.reason : null };
}

/** Of a webhook no user info and query: they may be secrets. Null: no URL. */
function recipientOf(target: NoticeTarget): string | null {
  if (target.channel === "webhook") {
    const { format } = target;
    if (format === "telegram") return target.url;
    const url = URL.parse(target.url);
    // The path of these is all the secret that they have.
    return url && (format === "slack" || format === "teams" ? url.origin : `${url.origin}${url.pathname}`);
  }
  return target.channel === "command" ? target.command : target.to;
}
