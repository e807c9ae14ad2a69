import type { components } from "../api/schema.ts";

type Channels = components["schemas"]["AlertRule"]["channels"];
type Webhook = NonNullable<Channels["webhook"]>[number];
type Chat = NonNullable<Channels["telegram"]>[number];

/** What is called: a program's webhook, one of a chat service, or a bot's chat. */
export const hookFormats = ["waybeam", "slack", "teams", "template", "telegram"] as const satisfies readonly (
  | NonNullable<Webhook["format"]>
  | "telegram"
)[];

/** A program or a chat that a rule calls, as a form has it. */
export interface HookRow {
  format: (typeof hookFormats)[number];
  /** URL of a webhook, or the id of a chat. */
  target: string;
  /** Key of the signature, or the bot's token; "": what is stored stays. */
  secret: string;
  /** JSON of the format `template`. */
  template: string;
}

/** The rows of a rule. Secrets are never given back. */
export function hookRows({ webhook = [], telegram = [] }: Channels): HookRow[] {
  return [
    ...webhook.map(({ url, format = "waybeam", template }) => ({
      ...{ format, target: url, secret: "", template: template ?? "" },
    })),
    ...telegram.map(({ chat }) => ({ format: "telegram" as const, target: chat, secret: "", template: "" })),
  ];
}

/** The channels of such rows; what a form does not show of a chat stays. Rows without a target are none. */
export function hooksOfRows(rows: readonly HookRow[], { telegram = [] }: Channels) {
  const given = rows.map((row) => ({ ...row, target: row.target.trim() })).filter(({ target }) => target !== "");
  const webhook = given
    .filter(({ format }) => format !== "telegram")
    .map(({ format, target, secret, template }) => ({
      ...{ url: target, format },
      ...(secret !== "" && { secret }),
      ...(format === "template" && { template }),
    }));
  const chats = given
    .filter(({ format }) => format === "telegram")
    .map(({ target, secret }): Chat => {
      const before = telegram.find(({ chat }) => chat === target);
      return { ...before, chat: target, ...(secret !== "" && { token: secret }) };
    });
  return { webhook, telegram: chats };
}
