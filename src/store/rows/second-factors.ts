import type { Kysely, Transaction } from "kysely";
import type { SecondFactor } from "../../model/sign-in.ts";
import type { SecondFactorStore } from "../../ports/sign-ins.ts";
import type { Schema } from "../schema.ts";
import { factorPlace } from "../secrets/sealed-rows.ts";
import type { Vault } from "../secrets/vault.ts";
import { optionalList } from "./json-columns.ts";

/** Second factors of users. */
export class SecondFactorRows implements SecondFactorStore {
  readonly #database: Kysely<Schema>;
  readonly #vault: Vault;

  constructor(database: Kysely<Schema>, vault: Vault) {
    this.#database = database;
    this.#vault = vault;
  }

  async find(userKey: number): Promise<SecondFactor | undefined> {
    const own = this.#database.selectFrom("second_factor").selectAll().where("user", "=", userKey);
    const row = await own.executeTakeFirst();
    if (row === undefined) return undefined;
    return {
      secret: this.#vault.open(row.secret, factorPlace(userKey)),
      confirmed: row.confirmed === 1,
      lastStep: row.last_step,
      recovery: optionalList(row.recovery) ?? [],
    };
  }

  begin(userKey: number, secret: string): Promise<boolean> {
    return this.#ofUser(userKey, async (transaction) => {
      const own = transaction.selectFrom("second_factor").select("confirmed").where("user", "=", userKey);
      if ((await own.executeTakeFirst())?.confirmed === 1) return false;
      const values = {
        ...{ secret: this.#vault.seal(secret, factorPlace(userKey)) },
        ...{ confirmed: 0, last_step: 0, recovery: "[]" },
      };
      await transaction
        .insertInto("second_factor")
        .values({ user: userKey, ...values })
        .onConflict((conflict) => conflict.column("user").doUpdateSet(values))
        .execute();
      return true;
    });
  }

  confirm(userKey: number, secret: string, step: number, recovery: readonly string[]): Promise<boolean> {
    return this.#ofUser(userKey, async (transaction) => {
      const own = transaction.selectFrom("second_factor").selectAll().where("user", "=", userKey);
      const row = await own.executeTakeFirst();
      if (row === undefined || row.confirmed === 1) return false;
      if (this.#vault.open(row.secret, factorPlace(userKey)) !== secret) return false;
      await transaction
        .updateTable("second_factor")
        .set({ confirmed: 1, last_step: step, recovery: JSON.stringify(recovery) })
        .where("user", "=", userKey)
        .execute();
      return true;
    });
  }

  async useStep(userKey: number, step: number): Promise<boolean> {
    const [used] = await this.#database
      .updateTable("second_factor")
      .set({ last_step: step })
      .where("user", "=", userKey)
      .where("last_step", "<", step)
      .execute();
    return used !== undefined && used.numUpdatedRows > 0n;
  }

  useRecovery(userKey: number, hash: string): Promise<boolean> {
    return this.#ofUser(userKey, async (transaction) => {
      const own = transaction.selectFrom("second_factor").select("recovery").where("user", "=", userKey);
      const codes = optionalList((await own.executeTakeFirst())?.recovery ?? "[]") ?? [];
      if (!codes.includes(hash)) return false;
      await transaction
        .updateTable("second_factor")
        .set({ recovery: JSON.stringify(codes.filter((code) => code !== hash)) })
        .where("user", "=", userKey)
        .execute();
      return true;
    });
  }

  async remove(userKey: number): Promise<boolean> {
    const [deleted] = await this.#database.deleteFrom("second_factor").where("user", "=", userKey).execute();
    return deleted !== undefined && deleted.numDeletedRows > 0n;
  }

  /** A transaction that decides by what it reads: for a user one after the other. False where the user is gone. */
  #ofUser(userKey: number, work: (transaction: Transaction<Schema>) => Promise<boolean>): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      const user = transaction.selectFrom("user").select("key").where("key", "=", userKey).forNoKeyUpdate();
      return (await user.executeTakeFirst()) !== undefined && work(transaction);
    });
  }
}
