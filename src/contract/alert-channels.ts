import Type from "typebox";
import type { UnitSystem } from "../model/alert-rule.ts";
import { type Language, languages } from "../model/language.ts";
import { webhookFormats } from "../model/webhook-format.ts";
import { emailPattern, longestEmail, phoneNumber, telegramChat, telegramToken, webUrl } from "./forms.ts";
import { GivenText, GivenTextOrNull } from "./schema.ts";

/** Recipients of each kind: every alert is a message to each of them. */
const mostRecipients = 20;
/** Longest template of a webhook's body. */
const longestTemplate = 8000;

const units: readonly UnitSystem[] = ["metric", "imperial"];

const wording = {
  language: Type.Optional(
    Type.Unsafe<Language | null>({
      type: ["string", "null"],
      enum: [...languages, null],
      description: "Unset: the account's.",
    }),
  ),
  timeZone: Type.Optional(
    GivenTextOrNull({ maxLength: 64, description: "IANA name. Unset: the account's.", documented: "timeZone" }),
  ),
  units: Type.Optional(Type.Unsafe<UnitSystem>({ type: "string", enum: [...units], description: "Unset: metric." })),
};

const email = Type.Object({
  to: GivenText({
    maxLength: longestEmail,
    examples: ["ana@example.com"],
    documented: { pattern: emailPattern },
  }),
  ...wording,
});

const sms = Type.Object({
  to: Type.String({
    maxLength: 32,
    pattern: phoneNumber,
    description: "A phone number, with its country code after a +.",
    examples: ["+573001234567"],
  }),
  ...wording,
});

/** A template goes with its format, and with no other. */
const webhookForms = [
  { properties: { format: { enum: webhookFormats.filter((format) => format !== "template") }, template: false } },
  {
    properties: { format: { const: "template" }, template: { type: "string" } },
    required: ["format", "template"],
  },
];

const webhookFields = {
  url: GivenText({
    maxLength: 2048,
    examples: ["https://example.com/hooks/fleet"],
    description:
      "An address in a private network is refused unless the configuration allows it. An address of a cloud's metadata service is always refused.",
    documented: { pattern: webUrl },
  }),
  secret: Type.Optional(
    GivenTextOrNull({
      minLength: 16,
      maxLength: 256,
      description:
        "Key of the signature. It is never shown again. Unset: the key that is stored for this URL stays. The formats `slack`, `teams` and `template` need none.",
    }),
  ),
  format: Type.Optional(
    Type.Unsafe<(typeof webhookFormats)[number]>({
      type: "string",
      enum: [...webhookFormats],
      description:
        "The body: `waybeam` is the service's own, `slack` is for an incoming webhook of Slack, `teams` for one of Microsoft Teams, and `template` comes from the field `template`. Unset: waybeam.",
    }),
  ),
  template: Type.Optional(
    GivenTextOrNull({
      maxLength: longestTemplate,
      description: "For the format `template`: JSON with placeholders such as `{{DeviceName}}` inside its strings.",
      examples: ['{"content":"{{DeviceName}}: {{Text}}"}'],
    }),
  ),
};

const webhook = Type.Object(webhookFields, { documented: { oneOf: webhookForms } });

const telegram = Type.Object({
  chat: Type.String({
    pattern: telegramChat,
    description: "Id of a chat, group or channel that the bot is in, or the @name of a public channel.",
    examples: ["-1001234567890"],
  }),
  token: Type.Optional(
    Type.Unsafe<string | null>({
      type: ["string", "null"],
      pattern: telegramToken,
      description:
        "Token of your bot, from @BotFather. It is never shown again. Unset: the token that is stored for this chat stays.",
      examples: ["123456789:AAbbCCddEEffGGhhIIjjKKllMMnnOOppQQr"],
    }),
  ),
  ...wording,
});

/** Who is told of a rule's alerts, and how. */
export const channels = Type.Object({
  email: Type.Optional(Type.Array(email, { maxItems: mostRecipients })),
  sms: Type.Optional(
    Type.Array(sms, { maxItems: mostRecipients, description: "Needs the privilege `sendSmsAlerts`." }),
  ),
  webhook: Type.Optional(Type.Array(webhook, { maxItems: mostRecipients })),
  telegram: Type.Optional(
    Type.Array(telegram, {
      maxItems: mostRecipients,
      description: "Messages of a Telegram bot. They count towards the limits of webhooks.",
    }),
  ),
});
