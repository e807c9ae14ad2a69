import type { Kysely } from "kysely";
import type { NewSignIn, SignIn } from "../../model/sign-in.ts";
import type { ChosenSignIns, SignInStore } from "../../ports/sign-ins.ts";
import type { Schema } from "../schema.ts";
import type { SignInRow } from "../schema-sign-ins.ts";

/** Who is signed in with a browser. */
export class SignInRows implements SignInStore {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  create(signIn: NewSignIn, most: number) {
    const { userKey, tokenHash: token_hash, creation, seen, expires, address, browser } = signIn;
    return this.#database.transaction().execute(async (transaction) => {
      // One after the other for a user, and none of a user that is being deleted.
      const user = transaction.selectFrom("user").select("key").where("key", "=", userKey).forNoKeyUpdate();
      if ((await user.executeTakeFirst()) === undefined) return undefined;
      const row = await transaction
        .insertInto("sign_in")
        .values({ user: userKey, token_hash, creation, seen, expires, address, browser })
        .returningAll()
        .executeTakeFirstOrThrow();
      const others = transaction
        .selectFrom("sign_in")
        .select("key")
        .where("user", "=", userKey)
        .where("key", "!=", row.key);
      const kept = await others
        .orderBy("seen", "desc")
        .orderBy("key", "desc")
        .limit(most - 1)
        .execute();
      const ended = await transaction
        .deleteFrom("sign_in")
        .where("user", "=", userKey)
        .where("key", "not in", [row.key, ...kept.map(({ key }) => key)])
        .returning("token_hash")
        .execute();
      return { made: signInOf(row), ended: ended.map((each) => each.token_hash) };
    });
  }

  async find(tokenHash: string): Promise<SignIn | undefined> {
    const row = await this.#database
      .selectFrom("sign_in")
      .selectAll()
      .where("token_hash", "=", tokenHash)
      .executeTakeFirst();
    return row && signInOf(row);
  }

  async list(userKey: number): Promise<readonly SignIn[]> {
    const own = this.#database.selectFrom("sign_in").selectAll().where("user", "=", userKey);
    return (await own.orderBy("key", "desc").execute()).map(signInOf);
  }

  async touch(key: number, now: number): Promise<void> {
    await this.#database.updateTable("sign_in").set({ seen: now }).where("key", "=", key).execute();
  }

  async remove(userKey: number, chosen: ChosenSignIns): Promise<readonly string[]> {
    const own = this.#database.deleteFrom("sign_in").where("user", "=", userKey).returning("token_hash");
    const rows = await (chosen === "all"
      ? own
      : "only" in chosen
        ? own.where("key", "=", chosen.only)
        : own.where("key", "!=", chosen.but)
    ).execute();
    return rows.map(({ token_hash }) => token_hash);
  }

  async prune(before: number, limit: number): Promise<number> {
    const ended = this.#database.selectFrom("sign_in").select("key").where("expires", "<", before).limit(limit);
    // Asks for `expires` again, so that PostgreSQL reads by the index of it.
    const [deleted] = await this.#database
      .deleteFrom("sign_in")
      .where("key", "in", ended)
      .where("expires", "<", before)
      .execute();
    return Number(deleted?.numDeletedRows ?? 0n);
  }
}

function signInOf({ key, user, token_hash, creation, seen, expires, address, browser }: SignInRow): SignIn {
  return { key, userKey: user, tokenHash: token_hash, creation, seen, expires, address, browser };
}
