import { readingConnection } from "../../sqlite/connections.ts";
import { Handed, serve } from "../../sqlite/workers/serve.ts";
import { LogReader } from "./log-reader.ts";
import type { PositionReaderCalls } from "./messages.ts";

/** The worker that reads positions. */
function open(file: string) {
  const database = readingConnection(file);
  return { database, log: new LogReader(database) };
}

serve<PositionReaderCalls, ReturnType<typeof open>>(open, {
  scan: ({ log }, { after, through }) => log.scan(after, through),
  packedBehind: ({ log }, number) => log.packedBehind(number),
  read: ({ log }, request) => {
    const answer = log.read(request);
    return new Handed(answer, [answer.records.buffer]);
  },
  render: ({ log }, request) => {
    const answer = log.render(request);
    return new Handed(answer, [answer.memory]);
  },
});
