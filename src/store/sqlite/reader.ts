import { readingConnection } from "./connections.ts";
import type { SqliteReaderCalls } from "./messages.ts";
import { Statements } from "./statements.ts";
import { serve } from "./workers/serve.ts";

/** The worker that reads the row tables. */
function open(file: string) {
  const database = readingConnection(file);
  return { database, statements: new Statements(database) };
}

serve<SqliteReaderCalls, ReturnType<typeof open>>(open, {
  sql: ({ statements }, request) => statements.run(request),
  check: ({ database }) => {
    database.prepare("select value from setting limit 1").get();
  },
});
