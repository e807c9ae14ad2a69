import { type Kysely, sql, type Transaction } from "kysely";
import type { AlertRule, AlertRuleFields } from "../../model/alert-rule.ts";
import type { AlertRuleStore, NamedByRule, RuleExchange } from "../../ports/alert-store.ts";
import type { Log } from "../../ports/log.ts";
import type { Page, PageAsk } from "../../ports/pages.ts";
import { ChangedSince } from "../../ports/store.ts";
import type { AlertRuleRow, Schema } from "../schema.ts";
import { openRule, ruleWithoutWebhooks, sealRule } from "../secrets/sealed-rows.ts";
import type { Vault } from "../secrets/vault.ts";
import { checkAsRead } from "./as-read.ts";
import { lockAccount } from "./locks.ts";
import { allByKey, bytesOf, pageByKey, someByKey } from "./pages.ts";

/** Rules of one question of a list: each may name many devices. */
const listRows = 100;

/** Rules of accounts. */
export class AlertRuleRows implements AlertRuleStore {
  readonly #database: Kysely<Schema>;
  readonly #vault: Vault;
  readonly #log: Log;

  constructor(database: Kysely<Schema>, vault: Vault, log: Log) {
    this.#database = database;
    this.#vault = vault;
    this.#log = log;
  }

  async create(
    accountKey: number,
    userKey: number,
    id: string,
    fields: AlertRuleFields,
    now: number,
  ): Promise<AlertRule> {
    return this.#ruleOf(await this.#insert(this.#database, accountKey, userKey, { id, fields }, now));
  }

  async find(id: string): Promise<AlertRule | undefined> {
    const row = await this.#database.selectFrom("alert_rule").selectAll().where("id", "=", id).executeTakeFirst();
    return row && this.#ruleOf(row);
  }

  async list(accountKey: number): Promise<readonly AlertRule[]> {
    const own = this.#database.selectFrom("alert_rule").selectAll().where("account", "=", accountKey);
    return (await allByKey(own, listRows)).map((row) => this.#ruleOf(row));
  }

  async some(accountKey: number, ids: readonly string[]): Promise<readonly AlertRule[]> {
    const own = this.#database.selectFrom("alert_rule").selectAll().where("account", "=", accountKey);
    const rows = await someByKey(ids, listRows, (some) => own.where("id", "in", some).execute());
    return rows.map((row) => this.#ruleOf(row));
  }

  async page(accountKey: number, ask: PageAsk, named?: NamedByRule): Promise<Page<AlertRule>> {
    const own = this.#database.selectFrom("alert_rule").where("account", "=", accountKey);
    const asked = named === undefined ? own : own.where("key", "in", this.#naming(accountKey, named));
    const sizes = asked.select(["key", bytesOf("definition").as("bytes")]);
    const page = await pageByKey(sizes, asked.selectAll(), ask);
    return { rows: page.rows.map((row) => this.#ruleOf(row)), more: page.more };
  }

  async count(accountKey: number, named: NamedByRule): Promise<number> {
    const { count } = await this.#database
      .selectFrom("alert_rule")
      .select((select) => select.fn.countAll<number>().as("count"))
      .where("account", "=", accountKey)
      .where("key", "in", this.#naming(accountKey, named))
      .executeTakeFirstOrThrow();
    return count;
  }

  /** The keys of the rules that name it. */
  #naming(accountKey: number, named: NamedByRule) {
    if ("zone" in named)
      return this.#database
        .selectFrom("rule_zone")
        .select("rule")
        .where("account", "=", accountKey)
        .where("zone", "=", named.zone);
    const targets = named.watched.map((one) => ("device" in one ? `d${one.device}` : `g${one.group}`));
    // One parameter, for a device may be in more groups than a statement takes parameters.
    const isWatched = sql<boolean>`target in (select value from json_each(${JSON.stringify(targets)}))`;
    return this.#database.selectFrom("rule_target").select("rule").where("account", "=", accountKey).where(isWatched);
  }

  async accounts(): Promise<readonly number[]> {
    const rows = await this.#database
      .selectFrom("alert_rule")
      .select("account")
      .distinct()
      .orderBy("account")
      .execute();
    return rows.map(({ account }) => account);
  }

  async replace(
    key: number,
    userKey: number,
    fields: AlertRuleFields,
    now: number,
    read?: number,
  ): Promise<AlertRule | undefined> {
    const rule = await this.#replace(this.#database, { key, revision: read }, userKey, fields, now);
    if (rule === undefined && read !== undefined) await this.#checkGone(key);
    return rule;
  }

  /** A rule that is still there was not found at the revision that was read. */
  async #checkGone(key: number): Promise<void> {
    const stored = this.#database.selectFrom("alert_rule").select("revision").where("key", "=", key);
    if ((await stored.executeTakeFirst()) !== undefined) throw new ChangedSince("the rule was changed meanwhile");
  }

  exchange(
    accountKey: number,
    userKey: number,
    { read, remove, replace, create }: RuleExchange,
    now: number,
  ): Promise<readonly AlertRule[]> {
    return this.#database.transaction().execute(async (transaction) => {
      if (read !== undefined) await this.#checkNaming(transaction, accountKey, read);
      // Locks all rules first, in one order. The first change below locks the account's counters, for which another
      // transaction may wait while it holds one of the rules.
      const touched = transaction.selectFrom("alert_rule").select("key").orderBy("key").forUpdate();
      await touched.where("key", "in", [...remove, ...replace.map(({ key }) => key)]).execute();
      const removed = transaction.deleteFrom("alert_rule").where("key", "in", remove).where("account", "=", accountKey);
      await unmute(transaction, await removed.returning("id").execute());
      const rules: AlertRule[] = [];
      for (const { key, fields } of replace) {
        const rule = await this.#replace(transaction, { key, account: accountKey }, userKey, fields, now);
        if (rule !== undefined) rules.push(rule);
      }
      for (const made of create)
        rules.push(this.#ruleOf(await this.#insert(transaction, accountKey, userKey, made, now)));
      return rules;
    });
  }

  /**
   * Locks the account, so that of two such exchanges the second sees the first; and the rules, so that nobody changes
   * them meanwhile.
   */
  async #checkNaming(
    transaction: Transaction<Schema>,
    account: number,
    { device, rules }: NonNullable<RuleExchange["read"]>,
  ): Promise<void> {
    await lockAccount(transaction, account);
    const naming = transaction
      .selectFrom("alert_rule")
      .select(["key", "revision"])
      .where("key", "in", this.#naming(account, { watched: [{ device }] }))
      .orderBy("key")
      .forUpdate();
    const read = rules.map(({ key, revision }) => ({ key, revision })).toSorted((one, other) => one.key - other.key);
    const stored = (await naming.execute()).map(({ key, revision }) => ({ key, revision }));
    checkAsRead(stored, read);
  }

  #insert(
    database: Kysely<Schema>,
    accountKey: number,
    userKey: number,
    { id, fields }: RuleExchange["create"][number],
    now: number,
  ): Promise<AlertRuleRow> {
    return database
      .insertInto("alert_rule")
      .values({
        id,
        account: accountKey,
        user: userKey,
        revision: 1,
        definition: sealRule(fields, id, this.#vault),
        webhooks: fields.channels.webhook.length,
        creation: now,
        modification: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
  }

  async remove(key: number, read?: number): Promise<boolean> {
    let rule = this.#database.deleteFrom("alert_rule").where("key", "=", key);
    if (read !== undefined) rule = rule.where("revision", "=", read);
    const deleted = await rule.returning("id").execute();
    // A crash in between may leave a mute. Such a mute applies to nothing, and is deleted after its end.
    await unmute(this.#database, deleted);
    if (deleted.length > 0) return true;
    if (read !== undefined) await this.#checkGone(key);
    return false;
  }

  #ruleOf(row: AlertRuleRow): AlertRule {
    return {
      ...this.#opened(row),
      key: row.key,
      id: row.id,
      accountKey: row.account,
      revision: row.revision,
      userKey: row.user,
      creation: row.creation,
      modification: row.modification,
    };
  }

  /**
   * Opens a rule. If the encrypted text of its webhooks is damaged, the rule works on without webhooks, so that its
   * account's positions are stored.
   */
  #opened({ definition, id }: AlertRuleRow): AlertRuleFields {
    try {
      return openRule(definition, id, this.#vault);
    } catch (error) {
      this.#log.error({ error, rule: id }, "a rule's webhooks are damaged in the database: set them anew");
      return ruleWithoutWebhooks(definition);
    }
  }

  /** The rule may be asked to be of an account, and at a revision. */
  async #replace(
    database: Kysely<Schema>,
    {
      key,
      account,
      revision,
    }: { readonly key: number; readonly account?: number; readonly revision?: number | undefined },
    userKey: number,
    fields: AlertRuleFields,
    now: number,
  ): Promise<AlertRule | undefined> {
    const known = await database
      .selectFrom("alert_rule")
      .select(["id", "account"])
      .where("key", "=", key)
      .executeTakeFirst();
    if (known === undefined || known.account !== (account ?? known.account)) return undefined;
    const row = await database
      .updateTable("alert_rule")
      .set((set) => ({
        user: userKey,
        revision: set("revision", "+", 1),
        definition: sealRule(fields, known.id, this.#vault),
        webhooks: fields.channels.webhook.length,
        modification: now,
      }))
      .where("key", "=", key)
      .$if(revision !== undefined, (update) => update.where("revision", "=", revision ?? 0))
      .returningAll()
      .executeTakeFirst();
    return row && this.#ruleOf(row);
  }
}

/** Deletes the mutes of deleted rules. */
async function unmute(database: Kysely<Schema>, removed: readonly { readonly id: string }[]): Promise<void> {
  for (const { id } of removed) await database.deleteFrom("mute").where("rule", "=", id).execute();
}
