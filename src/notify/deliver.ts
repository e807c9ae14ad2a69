import type { NoticeChannel, NoticeTarget } from "../model/notice.ts";
import type { CommandRunner } from "../ports/command-runner.ts";
import type { ChatSender, Delivery, Mailer, WebhookSender } from "../ports/mailer.ts";
import type { SmsSender } from "../ports/sms.ts";
import {
  bodyOf,
  mailOf,
  type Reader,
  slackOf,
  smsOf,
  type Told,
  teamsOf,
  telegramOf,
  webhookOf,
} from "../wording/index.ts";
import { readerOf, type Subject, toldOf } from "./subject.ts";

/**
 * What came of handing a notice over. `throttled`: the peer works and asked for less · `maybe`: whether it took it
 * can't be known · `suppressed`: it must not go out.
 */
export type Handed =
  | Delivery
  | { readonly outcome: "throttled"; readonly reason: string; readonly retryAfterMs: number }
  | { readonly outcome: "maybe" | "suppressed"; readonly reason: string };

/** The ways out. */
export interface Ways {
  /** Undefined: none is configured. */
  readonly mailer: Mailer | undefined;
  readonly sms: SmsSender | undefined;
  readonly webhooks: WebhookSender;
  readonly telegram: ChatSender;
  readonly commands: CommandRunner;
  /** Address of a map, see `mapLink`. */
  readonly mapLink: string;
  /** Parts that an SMS may have. */
  readonly smsParts: number;
}

/** A peer that asks for less is left alone so long unless it says another time, ms. */
const throttleMs = 1000;

/** Why nothing can go out by a channel; undefined: it can. */
export function closedWay(channel: NoticeChannel, { mailer, sms }: Ways): string | undefined {
  if (channel === "email" && mailer === undefined) return "no mail server is configured";
  return channel === "sms" && sms === undefined ? "no SMS gateway is configured" : undefined;
}

/** Words a notice and hands it to its peer, once. `attempt` counts from 1. */
export async function deliver(subject: Subject, attempt: number, ways: Ways): Promise<Handed> {
  const { notice, account, device } = subject;
  const { target } = notice;
  const told = toldOf(subject, ways.mapLink);
  switch (target.channel) {
    case "email":
      if (ways.mailer === undefined) break;
      return ways.mailer.send({ id: notice.id, to: target.to, ...mailOf(told, readerOf(account, target)) });
    case "sms":
      if (ways.sms === undefined) break;
      return bySms(ways.sms, target.to, smsOf(told, readerOf(account, target), ways.smsParts));
    case "webhook":
      return byWebhook(subject, target, attempt, ways);
    case "command": {
      const { command, format, sms, encode, userKey } = target;
      return ways.commands.run({ id: notice.id, deviceId: device.id, userKey, command, format, sms, encode });
    }
  }
  return { outcome: "suppressed", reason: closedWay(target.channel, ways) ?? "there is no way out" };
}

/** The service's own body, or one that its receiver knows; a chat of Telegram is one of them. */
async function byWebhook(
  subject: Subject,
  target: Extract<NoticeTarget, { readonly channel: "webhook" }>,
  attempt: number,
  ways: Ways,
): Promise<Handed> {
  const { url, secret, format, template = "" } = target;
  const { notice, account } = subject;
  const told = toldOf(subject, ways.mapLink);
  const reader = readerOf(account, target.reader);
  if (format === "telegram")
    return ways.telegram.send({ token: secret, chat: url.slice(url.indexOf(":") + 1), text: telegramOf(told, reader) });
  const { type, body } = webhookOf(told, reader);
  const bodies = { slack: slackOf, teams: teamsOf, template: (...of: [Told, Reader]) => bodyOf(template, ...of) };
  const made = format === undefined ? body : bodies[format](told, reader);
  if (made === undefined) return { outcome: "refused", reason: "its template makes a body that is too long" };
  return ways.webhooks.send({ url, secret, id: notice.id, attempt, type, body: made });
}

/** How many of its day's places a notice takes: an SMS one for each part. */
export function partsOf(subject: Subject, ways: Ways): number {
  const { target } = subject.notice;
  if (target.channel !== "sms" || ways.sms === undefined || ways.smsParts === 1) return 1;
  return ways.sms.parts({
    text: smsOf(toldOf(subject, ways.mapLink), readerOf(subject.account, target), ways.smsParts),
  });
}

async function bySms(sender: SmsSender, to: string, text: string): Promise<Handed> {
  const result = await sender.send(to, { text });
  if (result.outcome === "accepted")
    return { outcome: "accepted", peerId: result.ids.filter((id) => id !== null).join(" ") };
  if (result.outcome !== "unavailable" || result.throttled !== true) return result;
  return { outcome: "throttled", reason: result.reason, retryAfterMs: result.retryAfterMs ?? throttleMs };
}
