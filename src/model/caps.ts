/** What the operator set for one account; null: as the service's settings say. */
export interface AccountCaps {
  readonly dailyEmails: number | null;
  readonly dailySms: number | null;
  readonly deviceDailyEmails: number | null;
  readonly deviceDailySms: number | null;
  readonly unconfirmedRecipients: boolean | null;
}

/** What the operator allows an account. */
export interface Caps {
  /** E-mails and SMS of all its devices together, in a day of the account. */
  readonly dailyEmails: number;
  readonly dailySms: number;
  /** The highest daily limits that its devices can be given. */
  readonly deviceDailyEmails: number;
  readonly deviceDailySms: number;
  /** Whether people outside the account get notices without having confirmed that they want them. */
  readonly unconfirmedRecipients: boolean;
}

/** What an account has of which nothing was set for it alone. */
export const unsetCaps: AccountCaps = Object.freeze({
  dailyEmails: null,
  dailySms: null,
  deviceDailyEmails: null,
  deviceDailySms: null,
  unconfirmedRecipients: null,
});

/** More than can be sent: the first account, which is the operator's own, is not capped unless that was set for it. */
const noCap = 1_000_000_000;
const ofFirst: Caps = Object.freeze({
  dailyEmails: noCap,
  dailySms: noCap,
  deviceDailyEmails: 1_000_000,
  deviceDailySms: 1_000_000,
  unconfirmedRecipients: true,
});

/** What an account is allowed. */
export type CapsOf = (account: { readonly key: number; readonly caps: AccountCaps }) => Caps;

/** What accounts are allowed by the service's settings; `firstAccount`: key of the account that runs the service. */
export function capsBy(settings: Omit<Caps, "unconfirmedRecipients">, firstAccount: number): CapsOf {
  const others: Caps = { ...settings, unconfirmedRecipients: false };
  return ({ key, caps }) => {
    const unset = key === firstAccount ? ofFirst : others;
    return {
      dailyEmails: caps.dailyEmails ?? unset.dailyEmails,
      dailySms: caps.dailySms ?? unset.dailySms,
      deviceDailyEmails: caps.deviceDailyEmails ?? unset.deviceDailyEmails,
      deviceDailySms: caps.deviceDailySms ?? unset.deviceDailySms,
      unconfirmedRecipients: caps.unconfirmedRecipients ?? unset.unconfirmedRecipients,
    };
  };
}
