/** What an account has: triggers count it. */
export interface AccountUseTable {
  account: number;
  users: number;
  groups: number;
  geofences: number;
  rules: number;
  webhooks: number;
  bytes: number;
  devices: number;
  identifiers: number;
}

/** What an account may have. Null stands for the limit of account 0, which is the setting. */
export interface AccountQuotaTable {
  account: number;
  users: number | null;
  groups: number | null;
  geofences: number | null;
  rules: number | null;
  rules_of_device: number | null;
  webhooks: number | null;
  bytes: number | null;
}

/** What rules watch: triggers keep it. */
export interface RuleTargetTable {
  account: number;
  /** `d` and the id of a device, or `g` and that of a group. */
  target: string;
  rule: number;
}

/** Zones that rules name: triggers keep it. */
export interface RuleZoneTable {
  account: number;
  zone: string;
  rule: number;
}
