import { writingConnection } from "../../sqlite/connections.ts";
import { OpenFile } from "../../sqlite/in-place.ts";
import { serve } from "../../sqlite/workers/serve.ts";
import { LogWriter } from "./log-writer.ts";
import type { PositionWriterCalls } from "./messages.ts";

/** The worker that writes positions. */
function open(name: string) {
  const database = writingConnection(name);
  return { database, log: new LogWriter(database), file: new OpenFile(name) };
}

serve<PositionWriterCalls, ReturnType<typeof open>>(open, {
  open: ({ log }) => log.opening(),
  append: ({ log, file }, buffer) => file.written(() => log.append(buffer)),
  apply: ({ log }, changes) => log.apply(changes),
  deleteRows: ({ log }, spent) => log.deleteRows(spent),
  followed: ({ log }, seq) => log.followed(seq),
  keepFrom: ({ log }, request) => log.keepFrom(request),
  deleteBlocks: ({ log }, request) => log.deleteBlocks(request),
  check: ({ log, file }) => file.written(() => log.check()),
});
