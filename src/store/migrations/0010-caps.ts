import type { ColumnDefinitionBuilder, Kysely } from "kysely";
import type { Schema } from "../schema.ts";
import type { Engine, Migration } from "./migration.ts";

const required = (column: ColumnDefinitionBuilder) => column.notNull();

/** What each account may send, what it sent, and who outside of it confirmed that it wants notices. */
export const caps: Migration = {
  name: "caps and recipients",
  async up(database, engine) {
    const { schema } = database;
    const { int } = engine;
    for (const name of [
      "daily_emails",
      "daily_sms",
      "device_daily_emails",
      "device_daily_sms",
      "unconfirmed_recipients",
    ])
      await schema.alterTable("account").addColumn(name, int).execute();
    await schema
      .alterTable("notice")
      .addColumn("resends", int, (column) => column.notNull().defaultTo(0))
      .execute();
    await schema
      .createTable("account_sent")
      .addColumn("account", int, required)
      .addColumn("day", "text", required)
      .addColumn("sms", int, required)
      .addColumn("email", int, required)
      .addPrimaryKeyConstraint("account_sent_key", ["account", "day"])
      .execute();
    await recipients(database, engine);
  },
};

async function recipients(database: Kysely<Schema>, { int, key, uuid }: Engine): Promise<void> {
  const { schema } = database;
  await schema
    .createTable("recipient")
    .addColumn("key", int, key)
    .addColumn("id", "text", (column) => column.notNull().unique())
    .addColumn("account", int, required)
    .addColumn("channel", "text", required)
    .addColumn("address", "text", required)
    .addColumn("state", "text", required)
    .addColumn("code_hash", "text")
    .addColumn("code_expires", int)
    .addColumn("wrong", int, required)
    .addColumn("asked_day", "text")
    .addColumn("asked", int, required)
    .addColumn("creation", int, required)
    .addColumn("modification", int, required)
    .addUniqueConstraint("recipient_address", ["account", "channel", "address"])
    .execute();
  await schema.createIndex("recipient_of_address").on("recipient").columns(["channel", "address"]).execute();
  await confirmNamed(database, uuid);
}

/** Rules of one question: together some MB at most, where each names all recipients that it may. */
const askedRules = 50;

/** Whoever is named by a rule now gets its notices already: an update must not silence alerts. */
async function confirmNamed(database: Kysely<Schema>, uuid: Engine["uuid"]): Promise<void> {
  const asked = { code_hash: null, code_expires: null, wrong: 0, asked_day: null, asked: 0 };
  for (let after = 0; ; ) {
    const rules = await database
      .selectFrom("alert_rule")
      .select(["key", "account", "definition", "creation"])
      .where("key", ">", after)
      .orderBy("key")
      .limit(askedRules)
      .execute();
    for (const { account, definition, creation } of rules)
      for (const { channel, address } of namedIn(JSON.parse(definition)))
        await database
          .insertInto("recipient")
          .values({
            id: uuid,
            account,
            channel,
            address,
            state: "confirmed",
            ...asked,
            creation,
            modification: creation,
          })
          .onConflict((conflict) => conflict.columns(["account", "channel", "address"]).doNothing())
          .execute();
    const last = rules.at(-1);
    if (last === undefined) return;
    after = last.key;
  }
}

/** The addresses that a rule's definition names, in the form in which recipients are kept. */
function namedIn(definition: unknown): readonly { readonly channel: "email" | "sms"; readonly address: string }[] {
  const { channels } = Object(definition);
  const { email, sms } = Object(channels);
  const texts = (list: unknown) =>
    (Array.isArray(list) ? list : []).flatMap((each) => {
      const { to } = Object(each);
      return typeof to === "string" ? [to] : [];
    });
  return [
    ...texts(email).map((to) => ({ channel: "email" as const, address: to.toLowerCase() })),
    ...texts(sms).map((to) => ({ channel: "sms" as const, address: to.replaceAll(/[\s().-]/g, "") })),
  ];
}
