import type { Account } from "../model/account.ts";
import type { AlertRuleFields } from "../model/alert-rule.ts";
import type { CapsOf } from "../model/caps.ts";
import type { Language } from "../model/language.ts";
import { type RecipientChannel, recipientAddress } from "../model/recipient.ts";
import type { Log } from "../ports/log.ts";
import type { Asked } from "../ports/recipients.ts";
import type { Store } from "../ports/store.ts";
import type { Recipients } from "./recipients.ts";

/**
 * Asks the people outside the account whom rules name, and gives what there is to say of it as warnings. The rules are
 * saved by then, so it never fails.
 */
export type AskRecipients = (accountKey: number, rules: readonly AlertRuleFields[]) => Promise<readonly string[]>;

/** What asking needs of the service. */
export interface RuleRecipientsContext {
  readonly store: Pick<Store, "accounts" | "users">;
  readonly recipients: Pick<Recipients, "askNamed">;
  readonly capsOf: CapsOf;
  readonly log: Log;
}

interface Named {
  readonly channel: RecipientChannel;
  readonly address: string;
  readonly language: Language | null;
}

/** Warnings that one answer tells of recipients. */
const mostWarnings = 20;

/** Asking at the saving of rules. */
export function createAskRecipients({ store, recipients, capsOf, log }: RuleRecipientsContext): AskRecipients {
  async function isOwn(accountKey: number, { channel, address }: Named): Promise<boolean> {
    if (channel === "sms") return false;
    return (await store.users.findByEmail(address))?.accountKey === accountKey;
  }

  async function told(account: Account, { channel, address, language }: Named): Promise<string | undefined> {
    const name = { accountKey: account.key, channel, address };
    const meaning = meaningOf(await recipients.askNamed(account, name, language ?? account.language));
    return meaning && `${address} ${meaning}`;
  }

  return async (accountKey, rules) => {
    try {
      const account = await store.accounts.find(accountKey);
      if (account === undefined || capsOf(account).unconfirmedRecipients) return [];
      const warnings: string[] = [];
      for (const named of namedIn(rules)) {
        if (await isOwn(accountKey, named)) continue;
        const warning = await told(account, named);
        if (warning !== undefined) warnings.push(warning);
      }
      const more = warnings.length - mostWarnings;
      return more > 0 ? [...warnings.slice(0, mostWarnings), `and ${more} recipients more`] : warnings;
    } catch (error) {
      log.warn({ error }, "recipients of a rule can't be asked");
      return ["its recipients could not be asked whether they want notices: ask them once more"];
    }
  };
}

/** Each of those whom rules name, once. */
function namedIn(rules: readonly AlertRuleFields[]): Iterable<Named> {
  const all = new Map<string, Named>();
  for (const { channels } of rules)
    for (const channel of ["email", "sms"] as const)
      for (const { to, language } of channels[channel]) {
        const address = recipientAddress(channel, to);
        all.set(`${channel} ${address}`, { channel, address, language });
      }
  return all.values();
}

/** Undefined: the recipient gets notices. */
function meaningOf(asked: Asked | "unreachable"): string | undefined {
  if (asked === "unreachable") return "can't be asked whether it wants notices, and gets none: nothing sends to it";
  if ("recipient" in asked) {
    if (asked.recipient.state === "confirmed") return undefined;
    return asked.recipient.state === "refused"
      ? "refused the account's notices, and gets none"
      : "was sent a code, and gets notices when it has confirmed";
  }
  const none = "was not asked whether it wants notices, and gets none";
  switch (asked.outcome) {
    case "address":
      return `${none}: it got too many codes today`;
    case "account":
      return `${none}: the account sent too many codes today`;
    case "sent":
      return `${none}: the e-mails or SMS of the account's day are used up`;
    case "full":
      return `${none}: the account has as many recipients as it may`;
  }
}
