import assert from "node:assert/strict";
import { sql } from "kysely";
import type { Alert } from "../../src/model/alert.ts";
import type { NewNotice } from "../../src/model/notice.ts";
import { openPostgresRows, type PostgresRows } from "../../src/store/postgres/open.ts";
import { commitAlerts } from "../contract/store/alert-values.ts";
import { PostgresServer } from "./postgres.ts";
import { silentLog } from "./silent-log.ts";

/** Counters of accounts that differ from what the accounts have, and rows whose owner is gone. All must be zero. */
const faults = sql<Record<string, number>>`select
  (select count(*) from account_use as use where
    (users, "groups", geofences, rules, webhooks) <> (
      (select count(*) from "user" where account = use.account), (select count(*) from device_group where account = use.account),
      (select count(*) from geofence where account = use.account), (select count(*) from alert_rule where account = use.account),
      (select coalesce(sum(webhooks), 0) from alert_rule where account = use.account))) as counters,
  (select count(*) from rule_target where rule not in (select key from alert_rule)) as targets,
  (select count(*) from device_identifier where device not in (select key from device)) as identifiers,
  (select count(*) from device_head where device not in (select key from device)) as heads,
  (select count(*) from device_sent where device not in (select key from device)) as sent,
  (select count(*) from device_results where device not in (select key from device)) as results,
  (select count(*) from user_usage where "user" not in (select key from "user")) as usage,
  (select count(*) from command_part where command not in (select key from command)) as parts,
  (select count(*) from account where key not in (select account from "user" where owner = 1) and name = 'A') as ownerless`;

/** Two stores of rows on one database. Stores with positions could not share it. */
export class PostgresPair {
  readonly #stores: readonly [PostgresRows, PostgresRows];

  private constructor(stores: readonly [PostgresRows, PostgresRows]) {
    this.#stores = stores;
  }

  static async open(): Promise<PostgresPair> {
    const server = await PostgresServer.start({ settings: [["deadlock_timeout", "100ms"]] });
    const url = await server.database();
    const open = () => openPostgresRows(url, { log: silentLog, connections: 6 });
    return new PostgresPair([await open(), await open()]);
  }

  /** The stores in turn. */
  of(index: number): PostgresRows {
    return this.#stores[index % 2 === 0 ? 0 : 1];
  }

  /** Stores an alert with its notices. */
  addAlert(alert: Alert, notices: readonly NewNotice[]): Promise<void> {
    return commitAlerts(this.of(0), alert.device, [alert], notices);
  }

  async assertNoFaults(): Promise<void> {
    const { rows } = await faults.execute(this.of(0).tables);
    const wrong = Object.entries(rows[0] ?? {}).filter(([, count]) => count !== 0);
    assert.deepEqual(wrong, []);
  }
}
