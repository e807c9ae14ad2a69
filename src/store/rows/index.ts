import type { Kysely } from "kysely";
import type { Log } from "../../ports/log.ts";
import type { Store } from "../../ports/store.ts";
import type { Schema } from "../schema.ts";
import type { Vault } from "../secrets/vault.ts";
import { AccountRows } from "./accounts.ts";
import { AlertRuleRows } from "./alert-rules.ts";
import { AlertRows } from "./alerts.ts";
import { CommandRows } from "./commands.ts";
import { DailyRows } from "./daily.ts";
import type { Removals } from "./device-removal.ts";
import { DeviceRows } from "./devices.ts";
import { type Fence, FollowRows } from "./follow.ts";
import { GeofenceRows } from "./geofences.ts";
import { GroupRows } from "./groups.ts";
import type { Owner } from "./leases.ts";
import { MuteRows } from "./mutes.ts";
import { CrowdedNotices } from "./notice-room.ts";
import { NoticeRows } from "./notices.ts";
import { RecipientRows } from "./recipients.ts";
import { RefusedRows } from "./refused.ts";
import { SecondFactorRows } from "./second-factors.ts";
import { ShareRows } from "./shares.ts";
import { SignInRows } from "./sign-ins.ts";
import type { RunTogether } from "./statement-groups.ts";
import { UserRows } from "./users.ts";

/** What the stores of the row tables are built on. */
export interface RowParts {
  readonly database: Kysely<Schema>;
  readonly vault: Vault;
  readonly log: Log;
  readonly owner: Owner;
  readonly fence?: Fence;
  readonly removals: Removals;
  readonly together: RunTogether;
  readonly refusedBytes: number;
  readonly commandsPerDevice: number;
  readonly noticesPerDevice: number;
}

/** The stores of the row tables: all but that of positions. */
export interface RowStores extends Omit<Store, "positions" | "check" | "close"> {
  readonly refused: RefusedRows;
}

/** The stores of the row tables, for both engines. */
export function rowStores({ database, vault, log, owner, removals, together, fence, ...limits }: RowParts): RowStores {
  const crowded = new CrowdedNotices(limits.noticesPerDevice);
  return {
    follow: new FollowRows(database, { vault, crowded, log, fence }),
    devices: new DeviceRows(database, removals),
    users: new UserRows(database),
    accounts: new AccountRows(database, vault),
    groups: new GroupRows(database),
    commands: new CommandRows(database, limits.commandsPerDevice, owner.name),
    daily: new DailyRows(database),
    geofences: new GeofenceRows(database),
    alertRules: new AlertRuleRows(database, vault, log),
    alerts: new AlertRows(database),
    notices: new NoticeRows(database, { vault, crowded, together, owner }),
    refused: new RefusedRows(database, limits.refusedBytes),
    recipients: new RecipientRows(database),
    mutes: new MuteRows(database),
    signIns: new SignInRows(database),
    shares: new ShareRows(database),
    secondFactors: new SecondFactorRows(database, vault),
  };
}
