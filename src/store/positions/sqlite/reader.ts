import { DatabaseSync } from "node:sqlite";
import { failureOf } from "../../sqlite/engine-errors.ts";
import { databaseOfWorker, plain, serve } from "../../workers/serve.ts";
import { LogReader } from "./log-reader.ts";
import type { PositionReaderCalls } from "./messages.ts";

/** Another program on the database makes a question wait this long at most, ms. */
const busyTimeoutMs = 1000;

/** The worker that reads. */
let opened: { readonly database: DatabaseSync; readonly log: LogReader } | undefined;
function reader(): LogReader {
  if (opened === undefined) {
    const database = new DatabaseSync(databaseOfWorker(), { readOnly: true, timeout: busyTimeoutMs });
    opened = { database, log: new LogReader(database) };
  }
  return opened.log;
}

serve<PositionReaderCalls>(
  {
    scan: ({ after, through }) => plain(reader().scan(after, through)),
    packedBehind: (number) => plain(reader().packedBehind(number)),
    read: (request) => {
      const answer = reader().read(request);
      return { answer, transfer: [answer.records.buffer] };
    },
    render: (request) => {
      const answer = reader().render(request);
      return { answer, transfer: [answer.memory] };
    },
    close: () => {
      opened?.database.close();
      return plain(null);
    },
  },
  failureOf,
);
