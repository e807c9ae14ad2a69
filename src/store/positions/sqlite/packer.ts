import { DatabaseSync } from "node:sqlite";
import { failureOf } from "../../sqlite/engine-errors.ts";
import { databaseOfWorker, plain, serve } from "../../workers/serve.ts";
import { LogPacker } from "./log-packer.ts";
import { LogReader } from "./log-reader.ts";
import type { PositionPackerCalls } from "./messages.ts";

/** Another program on the database makes a question wait this long at most, ms. */
const busyTimeoutMs = 1000;

/** The worker that packs rows of the log into blocks. It gives way to all others. */
let opened: { readonly database: DatabaseSync; readonly log: LogPacker } | undefined;
function packer(): LogPacker {
  if (opened === undefined) {
    const database = new DatabaseSync(databaseOfWorker(), { readOnly: true, timeout: busyTimeoutMs });
    opened = { database, log: new LogPacker(new LogReader(database)) };
  }
  return opened.log;
}

serve<PositionPackerCalls>(
  {
    load: (request) => plain(packer().load(request)),
    pack: (devices) => plain(packer().pack(devices)),
    unload: () => {
      packer().unload();
      return plain(null);
    },
    close: () => {
      opened?.database.close();
      return plain(null);
    },
  },
  failureOf,
);
