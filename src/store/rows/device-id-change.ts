import type { Transaction } from "kysely";
import type { AlertRuleFields } from "../../model/alert-rule.ts";
import type { Schema } from "../schema.ts";
import { groupsHolding } from "./groups.ts";
import { optionalList, written } from "./json-columns.ts";

/** A device's id that changes. */
export interface IdChange {
  readonly account: number;
  readonly from: string;
  readonly to: string;
}

/** Rows that one statement names. */
const namedAtOnce = 500;

/**
 * Puts a device's new id in the place of the old one wherever the account's groups, users and rules name it. Returns
 * the keys of the users. All rows are locked before the first one changes, because a change locks the account's
 * counters, for which another transaction may wait while it holds one of the rows.
 */
export async function renameInAccount(
  transaction: Transaction<Schema>,
  change: IdChange,
  now: number,
): Promise<readonly number[]> {
  const groups = await lockGroups(transaction, change);
  const users = await lockUsers(transaction, change);
  const rules = await lockRules(transaction, change);
  for (const key of groups) await renameInGroup(transaction, key, change, now);
  for (const key of users)
    await transaction
      .updateTable("user")
      .set({ device_id: change.to, modification: now })
      .where("key", "=", key)
      .execute();
  for (const key of rules) await renameInRule(transaction, key, change, now);
  return users;
}

async function lockGroups(transaction: Transaction<Schema>, { account, from }: IdChange): Promise<readonly number[]> {
  const ids = [...(await groupsHolding(transaction, account, from))];
  const keys: number[] = [];
  for (let at = 0; at < ids.length; at += namedAtOnce) {
    const some = transaction
      .selectFrom("device_group")
      .select("key")
      .where("id", "in", ids.slice(at, at + namedAtOnce));
    for (const { key } of await some.orderBy("key").forUpdate().execute()) keys.push(key);
  }
  return keys;
}

async function lockUsers(transaction: Transaction<Schema>, { account, from }: IdChange): Promise<readonly number[]> {
  const users = transaction.selectFrom("user").select("key").where("account", "=", account);
  const rows = await users.where("device_id", "=", from).orderBy("key").forNoKeyUpdate().execute();
  return rows.map(({ key }) => key);
}

async function lockRules(transaction: Transaction<Schema>, { account, from }: IdChange): Promise<readonly number[]> {
  const naming = transaction
    .selectFrom("rule_target")
    .select("rule")
    .where("account", "=", account)
    .where("target", "=", `d${from}`);
  const rules = transaction.selectFrom("alert_rule").select("key").where("key", "in", naming);
  const rows = await rules.orderBy("key").forUpdate().execute();
  return rows.map(({ key }) => key);
}

async function renameInGroup(
  transaction: Transaction<Schema>,
  key: number,
  change: IdChange,
  now: number,
): Promise<void> {
  const group = transaction.selectFrom("device_group").select("devices").where("key", "=", key);
  const { devices } = await group.executeTakeFirstOrThrow();
  await transaction
    .updateTable("device_group")
    .set({ devices: JSON.stringify(renamed(optionalList(devices) ?? [], change)), last_modified: now })
    .where("key", "=", key)
    .execute();
}

/** The rule's user stays: the rule's commands are sent in the name of who set them. Its webhooks stay sealed. */
async function renameInRule(
  transaction: Transaction<Schema>,
  key: number,
  change: IdChange,
  now: number,
): Promise<void> {
  const rule = transaction.selectFrom("alert_rule").select("definition").where("key", "=", key);
  const fields = written<AlertRuleFields>((await rule.executeTakeFirstOrThrow()).definition);
  const definition = JSON.stringify({ ...fields, devices: renamed(fields.devices, change) });
  await transaction
    .updateTable("alert_rule")
    .set((set) => ({ definition, revision: set("revision", "+", 1), modification: now }))
    .where("key", "=", key)
    .execute();
}

/** A list that named the new id already names it once. */
function renamed(ids: readonly string[], { from, to }: IdChange): readonly string[] {
  return [...new Set(ids.map((id) => (id === from ? to : id)))];
}
