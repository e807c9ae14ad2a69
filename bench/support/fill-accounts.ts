import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createTokens } from "../../src/auth/tokens.ts";
import { systemClock } from "../../src/observe/index.ts";

/** Users of each account. */
const usersEach = 100;

/**
 * Puts accounts of a hundred users into the data folder of a service that does not run: copies of its first account and
 * owner. Gives a file with tokens of so many of the users, who are spread over all accounts.
 */
export function fillAccounts(directory: string, accounts: number, asking: number): string {
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  try {
    const made = {
      id: "'made-' || i",
      owner: "0",
      email: "'u' || i || '@example.com'",
      email_lower: "'u' || i || '@example.com'",
    };
    database.exec("begin");
    copyFirst(database, "account", accounts - 1, { id: "'made-' || i", name: "'Account ' || i" });
    copyFirst(database, "user", accounts * usersEach, {
      ...made,
      account: `(select min(key) from account) + (i - 1) % ${accounts}`,
    });
    database.exec("commit");
    const file = join(directory, "tokens");
    writeFileSync(file, tokensOf(database, asking).join("\n"));
    return file;
  } finally {
    database.close();
  }
}

/** Adds copies of a table's first row, with other values (expressions of `i`, which counts from 1) in some columns. */
export function copyFirst(
  database: DatabaseSync,
  table: string,
  count: number,
  other: Readonly<Record<string, string>>,
): void {
  const columns = database
    .prepare(`select name from pragma_table_info('${table}') where name <> 'key'`)
    .all()
    .map(({ name }) => String(name));
  database.exec(
    `with recursive counter(i) as (select 1 where ${count} > 0 union all select i + 1 from counter where i < ${count})
     insert into "${table}" (${columns.map((name) => `"${name}"`).join()})
     select ${columns.map((name) => other[name] ?? `first."${name}"`).join()}
     from counter, (select * from "${table}" order by key limit 1) as first`,
  );
}

function tokensOf(database: DatabaseSync, count: number): string[] {
  const key = database.prepare("select value from setting where name = 'tokenKey'").get();
  const tokens = createTokens(String(key?.value), 86_400, systemClock);
  return database
    .prepare("select key, api_key_id from user where owner = 0 order by key limit ?")
    .all(count)
    .map((user) => tokens.issue(Number(user.key), String(user.api_key_id)).token);
}
