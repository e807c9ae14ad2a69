import type { Kysely } from "kysely";
import type { DeviceKey } from "../../model/device.ts";
import type { Mute, MuteTarget, NewMute } from "../../model/mute.ts";
import type { MuteStore } from "../../ports/mutes.ts";
import type { Page, PageAsk } from "../../ports/pages.ts";
import type { Schema } from "../schema.ts";
import type { MuteRow } from "../schema-alerts.ts";
import { bytesOf, pageByKey } from "./pages.ts";

/** The most targets that one query names. */
const atOnce = 500;

/** Mutes of devices and rules. */
export class MuteRows implements MuteStore {
  readonly #database: Kysely<Schema>;

  constructor(database: Kysely<Schema>) {
    this.#database = database;
  }

  async set({ accountKey, target, since, until, user, note, critical }: NewMute): Promise<void> {
    const values = { since, until, user, note, critical: critical ? 1 : 0 };
    const [column, of] =
      "device" in target
        ? (["device", { device: target.device, rule: null }] as const)
        : (["rule", { device: null, rule: target.rule }] as const);
    await this.#database
      .insertInto("mute")
      .values({ account: accountKey, ...of, ...values })
      .onConflict((conflict) => conflict.column(column).doUpdateSet(values))
      .execute();
  }

  async some(targets: readonly MuteTarget[]): Promise<readonly Mute[]> {
    const found: Mute[] = [];
    for (let at = 0; at < targets.length; at += atOnce) {
      const some = targets.slice(at, at + atOnce);
      const devices = some.flatMap((target) => ("device" in target ? [target.device] : []));
      const rules = some.flatMap((target) => ("rule" in target ? [target.rule] : []));
      const rows = await this.#database
        .selectFrom("mute")
        .selectAll()
        .where((where) => where.or([where("device", "in", devices), where("rule", "in", rules)]))
        .orderBy("key")
        .execute();
      for (const row of rows) found.push(muteOf(row));
    }
    return found;
  }

  async page(accountKey: number, now: number, ask: PageAsk): Promise<Page<Mute>> {
    const own = this.#database.selectFrom("mute").where("account", "=", accountKey).where("until", ">", now);
    const sizes = own.select(["key", bytesOf("note").as("bytes")]);
    const { rows, more } = await pageByKey(sizes, own.selectAll(), ask);
    return { rows: rows.map(muteOf), more };
  }

  async remove(target: MuteTarget): Promise<void> {
    const all = this.#database.deleteFrom("mute");
    await ("device" in target
      ? all.where("device", "=", target.device)
      : all.where("rule", "=", target.rule)
    ).execute();
  }

  async prune(before: number, limit: number): Promise<number> {
    const ended = this.#database.selectFrom("mute").select("key").where("until", "<", before).limit(limit);
    // Asks for `until` again, because PostgreSQL evaluates this condition anew: a mute that was meanwhile set again
    // stays.
    const [deleted] = await this.#database
      .deleteFrom("mute")
      .where("key", "in", ended)
      .where("until", "<", before)
      .execute();
    return Number(deleted?.numDeletedRows ?? 0n);
  }
}

function muteOf({ key, account, device, rule, since, until, user, note, critical }: MuteRow): Mute {
  return {
    key,
    accountKey: account,
    target: targetOf(device, rule),
    since,
    until,
    user,
    note,
    critical: critical === 1,
  };
}

function targetOf(device: DeviceKey | null, rule: string | null): MuteTarget {
  return device === null ? { rule: rule ?? "" } : { device };
}
