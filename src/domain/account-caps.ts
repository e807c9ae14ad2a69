import type { Account } from "../model/account.ts";
import { dayIn } from "../model/account-day.ts";
import type { CapsOf } from "../model/caps.ts";
import type { Clock } from "../ports/clock.ts";
import type { DailyStore } from "../ports/daily.ts";

/** What showing caps needs of the service. */
export interface CapsContext {
  readonly store: { readonly daily: Pick<DailyStore, "sentOfAccount"> };
  readonly clock: Clock;
  readonly capsOf: CapsOf;
}

/** What the operator allows an account, and what of it is used today, as the API shows it. */
export async function capsView({ store, clock, capsOf }: CapsContext, account: Account) {
  const { dailyEmails, dailySms, deviceDailyEmails, deviceDailySms, unconfirmedRecipients } = capsOf(account);
  const sent = await store.daily.sentOfAccount(account.key, dayIn(account.timeZone, clock.now()));
  return {
    dailyEmails: { limit: dailyEmails, used: sent.email },
    dailySms: { limit: dailySms, used: sent.sms },
    deviceDailyEmails,
    deviceDailySms,
    unconfirmedRecipients,
  };
}
