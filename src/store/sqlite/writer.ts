import { writingConnection } from "./connections.ts";
import { OpenFile } from "./in-place.ts";
import type { SqliteWriterCalls } from "./messages.ts";
import { Statements } from "./statements.ts";
import { inTransaction } from "./transaction.ts";
import { serve } from "./workers/serve.ts";

/** The worker that writes the row tables. */
function open(name: string) {
  const database = writingConnection(name);
  // 16 MB, used only as far as needed.
  database.exec("pragma cache_size = -16000");
  return { database, statements: new Statements(database), file: new OpenFile(name) };
}

serve<SqliteWriterCalls, ReturnType<typeof open>>(open, {
  sql: ({ database, statements, file }, request) =>
    // Inside a transaction, the commit looks after the file.
    database.isTransaction ? statements.run(request) : file.written(() => statements.run(request)),
  together: ({ database, statements, file }, requests) => {
    const run = () => requests.map((request) => statements.run(request).changes);
    return file.written(() => inTransaction(database, run));
  },
  begin: ({ database }) => database.exec("begin immediate"),
  commit: ({ database, file }) => file.written(() => database.exec("commit")),
  rollback: ({ database }) => {
    if (database.isTransaction) database.exec("rollback");
  },
  check: ({ database, file }) => {
    const touch = database.prepare(
      "insert into setting (name, value) values ('check', '0') on conflict (name) do update set value = value + 1",
    );
    file.written(() => touch.run());
  },
});
