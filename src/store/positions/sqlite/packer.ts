import { readingConnection } from "../../sqlite/connections.ts";
import { serve } from "../../sqlite/workers/serve.ts";
import { LogPacker } from "./log-packer.ts";
import { LogReader } from "./log-reader.ts";
import type { PositionPackerCalls } from "./messages.ts";

/** The worker that packs rows of the log into blocks. It gives way to all others. */
function open(file: string) {
  const database = readingConnection(file);
  return { database, log: new LogPacker(new LogReader(database)) };
}

serve<PositionPackerCalls, ReturnType<typeof open>>(open, {
  load: ({ log }, request) => log.load(request),
  pack: ({ log }, devices) => log.pack(devices),
  unload: ({ log }) => log.unload(),
});
