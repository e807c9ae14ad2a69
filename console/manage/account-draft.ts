import type { Account } from "./operator.ts";

/** What a field of the form holds. */
export type Given = string | number | boolean | null;
/** An account as a form has it, by the pointer of each field without its first "/". */
export type AccountDraft = Record<string, Given> & {
  name: string;
  timeZone: string;
  language: string;
};

/** Caps of what its devices send in a day. */
export const capNames = ["dailyEmails", "dailySms", "deviceDailyEmails", "deviceDailySms"] as const;
/** What an account may have of each. */
export const quotaNames = ["users", "groups", "geofences", "rules", "rulesOfDevice", "webhooks", "bytes"] as const;

/** What the form begins with: the account as it is, or a new one. */
export function draftOfAccount(account: Account | undefined, timeZone: string): AccountDraft {
  return {
    ...{ name: account?.name ?? "", timeZone: account?.timeZone ?? timeZone, language: account?.language ?? "en" },
    ...{ licenses: account?.licenses.total ?? 10, positionDays: account?.positionDays ?? "" },
    ...(account && capsOf(account)),
  };
}

function capsOf({ quotas, ...account }: Account): Record<string, Given> {
  return {
    unconfirmedRecipients: account.unconfirmedRecipients,
    ...{ dailyEmails: account.dailyEmails.limit, dailySms: account.dailySms.limit },
    ...{ deviceDailyEmails: account.deviceDailyEmails, deviceDailySms: account.deviceDailySms },
    ...Object.fromEntries(quotaNames.map((name) => [`quotas/${name}`, quotas[name].limit])),
  };
}

/**
 * What was changed, as a JSON patch. What was not touched is left out: the account shows the limits that hold, and one
 * that is the service's setting is to go on following it. What is emptied follows it again.
 */
export function changesOf(draft: Record<string, Given>, before: Record<string, Given>) {
  return Object.keys(draft)
    .filter((name) => draft[name] !== before[name])
    .map((name) => ({ op: "add" as const, path: `/${name}`, value: draft[name] === "" ? null : draft[name] }));
}

/** A new account; what is empty is the service's to say. */
export function newAccountOf(draft: Record<string, Given>): Record<string, Given> {
  return Object.fromEntries(Object.entries(draft).filter(([, value]) => value !== "" && value !== null));
}
