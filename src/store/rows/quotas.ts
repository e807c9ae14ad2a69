import type { Kysely } from "kysely";
import type { Quotas, QuotaUse } from "../../model/quotas.ts";
import type { AccountQuotas } from "../../ports/store.ts";
import type { Schema } from "../schema.ts";
import type { AccountQuotaTable } from "../schema-quotas.ts";

/** The account of which the row says what is usual. */
const usual = 0;
const noUse: QuotaUse = { users: 0, groups: 0, geofences: 0, rules: 0, webhooks: 0, bytes: 0 };

/** Says what an account may have, in place of what was said before. */
export async function writeQuotas(
  database: Kysely<Schema>,
  account: number | undefined,
  { rulesOfDevice, ...quotas }: Partial<Quotas>,
): Promise<void> {
  const none = { users: null, groups: null, geofences: null, rules: null, webhooks: null, bytes: null };
  const columns = { ...none, ...quotas, rules_of_device: rulesOfDevice ?? null };
  await database
    .insertInto("account_quota")
    .values({ account: account ?? usual, ...columns })
    .onConflict((conflict) => conflict.column("account").doUpdateSet(columns))
    .execute();
}

/** What an account has and may have. */
export async function readQuotas(database: Kysely<Schema>, account: number): Promise<AccountQuotas> {
  const rows = await database
    .selectFrom("account_quota")
    .selectAll()
    .where("account", "in", [usual, account])
    .execute();
  const use = await database.selectFrom("account_use").selectAll().where("account", "=", account).executeTakeFirst();
  const { users, groups, geofences, rules, webhooks, bytes } = use ?? noUse;
  const own = quotasOf(rows.find((row) => row.account === account));
  const all = { ...quotasOf(rows.find((row) => row.account === usual)), ...own };
  return { limits: isWhole(all) ? all : undefined, own, use: { users, groups, geofences, rules, webhooks, bytes } };
}

function quotasOf(row: AccountQuotaTable | undefined): Partial<Quotas> {
  if (row === undefined) return {};
  const { account: _, rules_of_device, ...others } = row;
  const said = Object.entries({ ...others, rulesOfDevice: rules_of_device }).filter(([, value]) => value !== null);
  return Object.fromEntries(said);
}

function isWhole(quotas: Partial<Quotas>): quotas is Quotas {
  return Object.keys(quotas).length === 7;
}
