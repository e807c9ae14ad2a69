/** What is counted of an account. `rulesOfDevice`: rules that watch one device, or name one group. */
export const quotaNames = ["users", "groups", "geofences", "rules", "rulesOfDevice", "webhooks", "bytes"] as const;
export type QuotaName = (typeof quotaNames)[number];

/** How many of each an account may have. */
export type Quotas = { readonly [name in QuotaName]: number };

/** What an account has of each. */
export type QuotaUse = { readonly [name in Exclude<QuotaName, "rulesOfDevice">]: number };
