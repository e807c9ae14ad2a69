import type { Kysely } from "kysely";
import type { AlertRuleFields } from "../../model/alert-rule.ts";
import type { NoticeTarget } from "../../model/notice.ts";
import { written } from "../rows/json-columns.ts";
import type { Schema } from "../schema.ts";
import { isSealedBy, type Vault } from "./vault.ts";

/**
 * Settings of the service that are secrets: the key that signs tokens, the private key that passwords are encrypted
 * for, the key of recipients' codes, and the one of cursors, by which who has a copy of the database could read places
 * out of them and make some; and the key of the cookies that tell a browser from which somebody has signed in.
 */
export const secretSettings: ReadonlySet<string> = new Set([
  "tokenKey",
  "passwordKey",
  "recipientKey",
  "cursorKey",
  "browserKey",
]);

/** Where the secret of a setting stands. */
export function settingPlace(name: string): string {
  return `setting/${name}`;
}

/**
 * Returns the text of the rule with this id. One sealed text takes the place of all its webhooks with their addresses,
 * because an address may be as good as a key.
 */
export function sealRule(fields: AlertRuleFields, id: string, vault: Vault): string {
  const { webhook } = fields.channels;
  if (webhook.length === 0 || vault.current === "") return JSON.stringify(fields);
  const sealed = vault.seal(JSON.stringify(webhook), rulePlace(id));
  return JSON.stringify({ ...fields, channels: { ...fields.channels, webhook: sealed } });
}

/** Returns the rule of such a text. */
export function openRule(text: string, id: string, vault: Vault): AlertRuleFields {
  const fields = written<AlertRuleFields>(text);
  const stored: unknown = fields.channels.webhook;
  if (typeof stored !== "string") return fields;
  const webhook = written<AlertRuleFields["channels"]["webhook"]>(vault.open(stored, rulePlace(id)));
  return Object.assign(fields, { channels: { ...fields.channels, webhook } });
}

/** As `openRule`, without the webhooks. */
export function ruleWithoutWebhooks(text: string): AlertRuleFields {
  const fields = written<AlertRuleFields>(text);
  return Object.assign(fields, { channels: { ...fields.channels, webhook: [] } });
}

function rulePlace(id: string): string {
  return `alert_rule/${id}`;
}

/** Whether the webhooks of such a text, where it has any, are sealed by this key. */
function hasSealedWebhooks(text: string, key: string): boolean {
  const stored: unknown = written<AlertRuleFields>(text).channels.webhook;
  return typeof stored === "string" ? isSealedBy(stored, key) : Array.isArray(stored) && stored.length === 0;
}

/** The text of a notice's target: a webhook's is sealed as a whole. */
export function sealTarget(target: NoticeTarget, id: string, vault: Vault): string {
  const text = JSON.stringify(target);
  return target.channel === "webhook" ? vault.seal(text, `notice/${id}`) : text;
}

/** The target in such a text. */
export function openTarget(text: string, id: string, vault: Vault): NoticeTarget {
  return written(vault.open(text, `notice/${id}`));
}

/** Where the secret of a user's second factor stands. */
export function factorPlace(userKey: number): string {
  return `second_factor/${userKey}`;
}

/** Rows of one step: how long the others wait for it. */
const stepRows = 200;

/** What was sealed, and the ids of rows that can't be read: they stay as they are. */
export interface Sealed {
  readonly sealed: number;
  readonly damaged: readonly string[];
}

/**
 * Seals every secret that the vault's present key has not sealed yet. It works in steps, so it may be cut short at any
 * moment, and the next call continues.
 */
export async function sealAll(database: Kysely<Schema>, vault: Vault): Promise<Sealed> {
  const settings = await sealSettings(database, vault);
  const rules = await inSteps((after) => sealRules(database, vault, after));
  const notices = await inSteps((after) => sealNotices(database, vault, after));
  const factors = await inSteps((after) => sealFactors(database, vault, after));
  return {
    sealed: settings + rules.sealed + notices.sealed + factors.sealed,
    damaged: [...rules.damaged, ...notices.damaged, ...factors.damaged],
  };
}

/** What a step encrypted, and the key of its last row. Undefined when there was no row. */
interface Step extends Sealed {
  readonly last: number | undefined;
}

async function inSteps(step: (after: number) => Promise<Step>): Promise<Sealed> {
  let sum = 0;
  const all: string[] = [];
  let after: number | undefined = 0;
  while (after !== undefined) {
    const { sealed, damaged, last }: Step = await step(after);
    sum += sealed;
    for (const id of damaged) all.push(id);
    after = last;
  }
  return { sealed: sum, damaged: all };
}

/** A row whose secret is sealed with the present key now. */
interface Resealed {
  readonly key: number;
  readonly text: string;
}

/**
 * Seals the rows of a step with the present key. Leaves out rows that can't be read: one such row kept the service from
 * starting. `reseal` returns undefined when there is nothing to do.
 */
function resealed<R extends { readonly key: number; readonly id: string }>(
  rows: readonly R[],
  reseal: (row: R) => string | undefined,
): { readonly done: readonly Resealed[]; readonly damaged: readonly string[] } {
  const done: Resealed[] = [];
  const damaged: string[] = [];
  for (const row of rows) {
    try {
      const text = reseal(row);
      if (text !== undefined) done.push({ key: row.key, text });
    } catch {
      damaged.push(row.id);
    }
  }
  return { done, damaged };
}

/** Seals the settings that are secrets; how many it sealed. */
export async function sealSettings(database: Kysely<Schema>, vault: Vault): Promise<number> {
  let sealed = 0;
  for (const name of secretSettings) {
    const row = await database.selectFrom("setting").select("value").where("name", "=", name).executeTakeFirst();
    if (row === undefined || isSealedBy(row.value, vault.current)) continue;
    const value = vault.seal(vault.open(row.value, settingPlace(name)), settingPlace(name));
    await database.updateTable("setting").set({ value }).where("name", "=", name).execute();
    sealed++;
  }
  return sealed;
}

async function sealRules(database: Kysely<Schema>, vault: Vault, after: number): Promise<Step> {
  const rows = await database
    .selectFrom("alert_rule")
    .select(["key", "id", "definition"])
    .where("key", ">", after)
    .orderBy("key")
    .limit(stepRows)
    .execute();
  const { done, damaged } = resealed(rows, ({ id, definition }) =>
    hasSealedWebhooks(definition, vault.current) ? undefined : sealRule(openRule(definition, id, vault), id, vault),
  );
  await database.transaction().execute(async (transaction) => {
    for (const { key, text } of done)
      await transaction.updateTable("alert_rule").set({ definition: text }).where("key", "=", key).execute();
  });
  return { sealed: done.length, damaged, last: rows.at(-1)?.key };
}

async function sealNotices(database: Kysely<Schema>, vault: Vault, after: number): Promise<Step> {
  const rows = await database
    .selectFrom("notice")
    .select(["key", "id", "channel", "target"])
    .where("key", ">", after)
    .orderBy("key")
    .limit(stepRows)
    .execute();
  const { done, damaged } = resealed(rows, ({ id, channel, target }) =>
    channel !== "webhook" || isSealedBy(target, vault.current)
      ? undefined
      : sealTarget(openTarget(target, id, vault), id, vault),
  );
  await database.transaction().execute(async (transaction) => {
    for (const { key, text } of done)
      await transaction.updateTable("notice").set({ target: text }).where("key", "=", key).execute();
  });
  return { sealed: done.length, damaged, last: rows.at(-1)?.key };
}

async function sealFactors(database: Kysely<Schema>, vault: Vault, after: number): Promise<Step> {
  const rows = await database
    .selectFrom("second_factor")
    .select(["user", "secret"])
    .where("user", ">", after)
    .orderBy("user")
    .limit(stepRows)
    .execute();
  const found = rows.map(({ user, secret }) => ({ key: user, id: factorPlace(user), secret }));
  const { done, damaged } = resealed(found, ({ id, secret }) =>
    isSealedBy(secret, vault.current) ? undefined : vault.seal(vault.open(secret, id), id),
  );
  await database.transaction().execute(async (transaction) => {
    for (const { key, text } of done)
      await transaction.updateTable("second_factor").set({ secret: text }).where("user", "=", key).execute();
  });
  return { sealed: done.length, damaged, last: found.at(-1)?.key };
}
