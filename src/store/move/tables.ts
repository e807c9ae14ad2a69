/** A table of both engines, as a move reads it. */
export interface MovedTable {
  readonly name: string;
  /**
   * Columns that tell its rows apart. By the first one, unless it holds texts, both engines give rows in the same
   * order.
   */
  readonly key: readonly [string, ...string[]];
  /** The engine gives the numbers of the key's column, and none twice. */
  readonly numbered?: true;
}

const numbered = (name: string, column = "key"): MovedTable => ({ name, key: [column], numbered: true });
const keyed = (name: string, ...key: readonly [string, ...string[]]): MovedTable => ({ name, key });

/** All tables but the list of migrations, in an order in which each row comes after those that it refers to. */
export const movedTables: readonly MovedTable[] = [
  numbered("account"),
  numbered("user"),
  numbered("device"),
  keyed("device_identifier", "identifier"),
  numbered("device_group"),
  numbered("geofence"),
  numbered("alert_rule"),
  numbered("recipient"),
  // What triggers count is copied as it is: none of them runs during a move.
  keyed("account_use", "account"),
  keyed("account_quota", "account"),
  keyed("rule_target", "account", "target", "rule"),
  keyed("rule_zone", "account", "zone", "rule"),
  keyed("user_usage", "user", "day"),
  keyed("device_results", "device", "day"),
  keyed("device_sent", "device", "day"),
  keyed("account_sent", "account", "day"),
  numbered("command"),
  keyed("command_part", "command", "part"),
  numbered("alert"),
  numbered("notice"),
  keyed("notice_pause", "subject"),
  numbered("mute"),
  numbered("sign_in"),
  numbered("share"),
  keyed("second_factor", "user"),
  numbered("refused", "seq"),
  keyed("refused_room", "device"),
  keyed("purge", "device"),
  keyed("device_head", "device"),
  keyed("device_day", "device", "day"),
  keyed("setting", "name"),
];
