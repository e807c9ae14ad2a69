import type { AlertRuleBody, AlertRuleView } from "../contract/alert-rule.ts";
import type { MuteView } from "../contract/mute.ts";
import { formatInstant } from "../contract/time.ts";
import type {
  AlertChannels,
  AlertCommand,
  AlertCondition,
  AlertHysteresis,
  AlertRule,
  AlertRuleFields,
  AlertSchedule,
  Recipient,
  WebhookTarget,
} from "../model/alert-rule.ts";
import type { AlertRuleCheck, TemplateCheck, WebhookCheck } from "../ports/alert-rule-check.ts";
import { readTrigger } from "./alert-parameters.ts";
import { payloadOf } from "./command-payload.ts";
import { isEmail } from "./email.ts";
import { isTimeZone } from "./time-zones.ts";

type Given<K extends keyof AlertRuleBody> = NonNullable<AlertRuleBody[K]>;

/** A problem of a body: its place below the rule (a JSON Pointer) and a sentence. */
type Report = (problem: string) => void;

/** What a body makes of a rule, and all that is wrong with it. */
export interface ReadRule {
  readonly fields: AlertRuleFields;
  readonly problems: readonly string[];
}

/** A rule as the API shows it. Secrets are null. */
export function ruleView(rule: AlertRule, problems: readonly string[], mute: MuteView | null): AlertRuleView {
  const { email, sms, webhook } = rule.channels;
  const calls = webhook.filter(({ format }) => format !== "telegram");
  const chats = webhook.filter(({ format }) => format === "telegram");
  return {
    id: rule.id,
    name: rule.name,
    enabled: rule.enabled,
    type: rule.type,
    parameters: { ...rule.parameters },
    devices: [...rule.devices],
    groups: [...rule.groups],
    schedule: rule.schedule,
    conditions: rule.conditions.map((condition) => ({ ...condition })),
    hysteresis: { ...rule.hysteresis },
    channels: {
      email: email.map((recipient) => ({ ...recipient })),
      sms: sms.map((recipient) => ({ ...recipient })),
      webhook: calls.map(({ url, format, template }) => ({
        ...{ url, secret: null },
        ...(format !== undefined && format !== "telegram" && { format }),
        ...(template !== undefined && { template }),
      })),
      telegram: chats.map(({ url, reader }) => ({ chat: url.slice(telegramUrl.length), token: null, ...reader })),
    },
    commands: rule.commands.map((command) => ({ ...command })),
    critical: rule.critical,
    text: rule.text,
    notifyWhenOver: rule.notifyWhenOver,
    notifyOnlyWhenOver: rule.notifyOnlyWhenOver,
    creation: formatInstant(rule.creation),
    modification: formatInstant(rule.modification),
    mute,
    problems: [...problems],
  };
}

/** What judges a rule beside its own text. */
export interface RuleChecks {
  readonly checkAlertRule: AlertRuleCheck;
  readonly checkWebhook: WebhookCheck;
  readonly checkTemplate: TemplateCheck;
}

/** Begins the URL of a chat of Telegram. */
const telegramUrl = "telegram:";

/**
 * Reads a body that has passed its schema; what it leaves out takes its default. Secrets of webhooks that it does not
 * give are taken from `kept` by their URL. Whether what it refers to is there is not looked at.
 */
export function readRule(body: AlertRuleBody, kept: AlertRuleFields | undefined, checks: RuleChecks): ReadRule {
  const problems: string[] = [];
  const report: Report = (problem) => problems.push(problem);
  const devices = body.devices ?? [];
  const groups = body.groups ?? [];
  if (body.name.trim() === "") report("/name: must not be blank");
  if (devices.length + groups.length === 0) report("/devices: a rule watches at least one device or group");
  const fields: AlertRuleFields = {
    ...readTrigger(body),
    name: body.name,
    enabled: body.enabled ?? true,
    devices,
    groups,
    schedule: body.schedule === null || body.schedule === undefined ? null : readSchedule(body.schedule, report),
    conditions: (body.conditions ?? []).map((given, index) => readCondition(given, `/conditions/${index}`, report)),
    hysteresis: readHysteresis(body.hysteresis ?? {}),
    channels: readChannels(body.channels ?? {}, { kept: kept?.channels.webhook ?? [], checks }, report),
    commands: (body.commands ?? []).map((given, index) => readCommand(given, `/commands/${index}`, report)),
    critical: body.critical ?? false,
    text: body.text ?? null,
    notifyWhenOver: body.notifyWhenOver ?? false,
    notifyOnlyWhenOver: body.notifyOnlyWhenOver ?? false,
  };
  if (fields.text?.trim() === "") report("/text: must not be blank");
  return { fields, problems: [...problems, ...checks.checkAlertRule(fields)] };
}

function readSchedule(given: Given<"schedule">, report: Report): AlertSchedule {
  const { days, from = "00:00", to = "00:00" } = given;
  // Not the schema's: it would hide what else is wrong with the rule.
  if (days.length === 0) report("/schedule/days: must name a day at least");
  return { days, from, to, timeZone: readZone(given.timeZone, "/schedule/timeZone", report) };
}

function readZone(given: string | null | undefined, place: string, report: Report): string | null {
  if (given === null || given === undefined) return null;
  if (!isTimeZone(given)) report(`${place}: must be an IANA time zone of the form Region/City`);
  return given;
}

/**
 * Stands for a condition that is refused, so that the others keep their places in the problems that are found later.
 */
const ofNothing: AlertCondition = { attribute: "speed", operator: "equal", value: 0 };

function readCondition(
  { attribute, value, zone, operator }: Given<"conditions">[number],
  place: string,
  report: Report,
): AlertCondition {
  if (operator === "inside" || operator === "outside") {
    if (attribute !== undefined || value !== undefined) report(`${place}: ${operator} goes with a zone alone`);
    if (zone !== undefined) return { zone, operator };
    report(`${place}/zone: is required with ${operator}`);
    return ofNothing;
  }
  if (zone !== undefined) report(`${place}/zone: goes with inside and outside`);
  if (attribute === undefined) report(`${place}/attribute: is required with ${operator}`);
  if (value === undefined) report(`${place}/value: is required with ${operator}`);
  return attribute === undefined || value === undefined ? ofNothing : { attribute, operator, value };
}

function readHysteresis(given: Given<"hysteresis">): AlertHysteresis {
  const { holdSeconds = 0, rearmAt = null, cooldownSeconds = 0 } = given;
  return { holdSeconds, rearmAt, cooldownSeconds };
}

/** What a webhook is read with: those that the rule has, and what judges a new one. */
interface WebhookReading {
  readonly kept: readonly WebhookTarget[];
  readonly checks: RuleChecks;
}

function readChannels(
  { email = [], sms = [], webhook = [], telegram = [] }: Given<"channels">,
  reading: WebhookReading,
  report: Report,
): AlertChannels {
  const recipient =
    (kind: "email" | "sms") =>
    (given: (typeof email)[number], index: number): Recipient => {
      const place = `/channels/${kind}/${index}`;
      if (kind === "email" && !isEmail(given.to)) report(`${place}/to: must be an e-mail address`);
      const timeZone = readZone(given.timeZone, `${place}/timeZone`, report);
      return { to: given.to, language: given.language ?? null, timeZone, units: given.units ?? "metric" };
    };
  const channels = {
    email: email.map(recipient("email")),
    sms: sms.map(recipient("sms")),
    webhook: [
      ...webhook.map((given, index) => readWebhook(given, reading, `/channels/webhook/${index}`, report)),
      ...telegram.map((given, index) => readChat(given, reading, `/channels/telegram/${index}`, report)),
    ],
  };
  reportRepeated(
    channels.email.map(({ to }) => to.toLowerCase()),
    "/channels/email",
    report,
  );
  reportRepeated(
    channels.sms.map(({ to }) => to.replaceAll(/[ ().-]/g, "")),
    "/channels/sms",
    report,
  );
  reportRepeated(
    webhook.map(({ url }) => url),
    "/channels/webhook",
    report,
  );
  reportRepeated(
    telegram.map(({ chat }) => chat),
    "/channels/telegram",
    report,
  );
  return channels;
}

function reportRepeated(targets: readonly string[], place: string, report: Report): void {
  if (new Set(targets).size < targets.length) report(`${place}: must not have the same recipient twice`);
}

function readWebhook(
  given: Required<Given<"channels">>["webhook"][number],
  { kept, checks }: WebhookReading,
  place: string,
  report: Report,
): WebhookTarget {
  const before = kept.find(({ url }) => url === given.url);
  // One that the rule has already stays, so that all else of the rule can be changed; its calls are refused.
  const problem = before === undefined ? problemOfUrl(given.url, checks) : undefined;
  if (problem !== undefined) report(`${place}/url: ${problem}`);
  const { format = "waybeam", template = null } = given;
  const secret = given.secret ?? before?.secret ?? (format === "waybeam" ? undefined : "");
  if (secret === undefined || (secret === "" && format === "waybeam"))
    report(`${place}/secret: is required for a new URL`);
  if (template !== null && format !== "template") report(`${place}/template: goes with the format template`);
  if (format === "waybeam") return { url: given.url, secret: secret ?? "" };
  if (format !== "template") return { url: given.url, secret: secret ?? "", format };
  if (template === null) report(`${place}/template: is required with the format template`);
  else for (const wrong of checks.checkTemplate(template)) report(`${place}/template: ${wrong}`);
  return { url: given.url, secret: secret ?? "", format, template: template ?? "" };
}

function readChat(
  { chat, token, language = null, timeZone, units = "metric" }: Required<Given<"channels">>["telegram"][number],
  { kept }: WebhookReading,
  place: string,
  report: Report,
): WebhookTarget {
  const url = telegramUrl + chat;
  const secret = token ?? kept.find((target) => target.url === url)?.secret;
  if (secret === undefined) report(`${place}/token: is required for a new chat`);
  const reader = { language, timeZone: readZone(timeZone, `${place}/timeZone`, report), units };
  return { url, secret: secret ?? "", format: "telegram", reader };
}

function problemOfUrl(text: string, { checkWebhook }: RuleChecks): string | undefined {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return "must be an http or https URL";
  // It is shown in answers, and calls are signed anyway.
  if (url.username + url.password !== "") return "must not hold a user name or a password";
  return checkWebhook(url);
}

function readCommand(given: Given<"commands">[number], place: string, report: Report): AlertCommand {
  const { command, format = "Text", sms = false, encode = false, delaySeconds = 0 } = given;
  const bytes = payloadOf(format, command);
  if (typeof bytes === "string") report(`${place}/command: ${bytes}`);
  else if (bytes.length === 0) report(`${place}/command: has no bytes`);
  if (encode && format !== "Text") report(`${place}/encode: a protocol wraps text only`);
  if (encode && sms) report(`${place}/encode: an SMS is not wrapped`);
  return { command, format, sms, encode, delaySeconds };
}
