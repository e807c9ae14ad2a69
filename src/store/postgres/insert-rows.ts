import { storedText } from "./text.ts";
import type { Statement, Step } from "./wire/messages.ts";
import { step } from "./wire/session.ts";
import { text } from "./wire/values.ts";

/** Statements by table and columns. */
const inserts = new Map<string, Statement>();

/** Inserts rows that all have the same columns. They are few, so they are sent as one JSON text. */
export function insertRows(table: "alert" | "notice", rows: readonly object[]): Step {
  const columns = Object.keys(rows[0] ?? {})
    .map((column) => `"${column}"`)
    .join(", ");
  const name = `${table} ${columns}`;
  let statement = inserts.get(name);
  if (statement === undefined) {
    // An alert's account is that of its device.
    const [more, value] =
      table === "alert" ? [", account", `, (select account from device where device."key" = own.device)`] : ["", ""];
    const sql = `insert into ${table} (${columns}${more}) select ${columns}${value} from json_populate_recordset(null::${table}, $1::json) as own`;
    statement = { name: `insert_${inserts.size}`, sql };
    inserts.set(name, statement);
  }
  const json = JSON.stringify(rows, (_, value: unknown) =>
    typeof value === "string" ? storedText(value.toWellFormed()) : value,
  );
  return step(statement, text(json));
}
