import { DatabaseSync } from "node:sqlite";
import { databaseOfWorker, plain, serve } from "../workers/serve.ts";
import { failureOf } from "./engine-errors.ts";
import type { SqliteReaderCalls } from "./messages.ts";
import { Statements } from "./statements.ts";

/** Another program on the database makes a question wait this long at most, ms. */
const busyTimeoutMs = 1000;

class Reader {
  readonly database = new DatabaseSync(databaseOfWorker(), { readOnly: true, timeout: busyTimeoutMs });
  readonly statements = new Statements(this.database);
}

let opened: Reader | undefined;
/** Opened by a call, so that a failure to open is that call's answer. */
function reader(): Reader {
  opened ??= new Reader();
  return opened;
}

serve<SqliteReaderCalls>(
  {
    sql: (request) => plain(reader().statements.run(request)),
    check: () => {
      reader().database.prepare("select value from setting limit 1").get();
      return plain(null);
    },
    close: () => {
      opened?.database.close();
      return plain(null);
    },
  },
  failureOf,
);
