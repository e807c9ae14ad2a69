import { BlockCache } from "../locations/block-cache.ts";
import { unpackRequests } from "../locations/context-requests.ts";
import { cacheBytes, plain, serve } from "../workers/serve.ts";
import { orderOfWorker, readingConnection } from "./connection.ts";
import type { PostgresReaderCalls } from "./messages.ts";
import { StoredChunks } from "./stored-chunks.ts";
import { StoredRows } from "./stored-rows.ts";
import { callFailure } from "./thread-errors.ts";

const connection = readingConnection(orderOfWorker(), "reader");
const rows = new StoredRows(connection);
const chunks = new StoredChunks(connection, new BlockCache(cacheBytes()));

serve<PostgresReaderCalls>(
  {
    scan: async (from) => {
      const answer = await rows.scan("tail", from);
      return { answer, transfer: [answer.buffer] };
    },
    scanBlocks: async (from) => {
      const answer = await rows.scan("blocks", from);
      return { answer, transfer: [answer.buffer] };
    },
    blockCounts: async () => {
      const answer = await rows.blockCounts();
      return { answer, transfer: [answer.buffer] };
    },
    lastBlock: async () => plain(await rows.lastBlock()),
    // Sealed rows are deleted at once, so that none is spent.
    spent: async () => plain({ rows: [], damaged: [] }),
    holdsAny: async (seqs) => plain(await rows.holdsAny(seqs)),
    waiting: async () => plain(await rows.waiting()),
    statesAsOf: async () => plain(await rows.statesAsOf()),
    states: async (devices) => {
      const answer = await rows.states(devices);
      return { answer, transfer: [answer.table.buffer, answer.bytes.buffer] };
    },
    rows: async (seqs) => {
      const answer = await rows.rows(seqs);
      return { answer, transfer: [answer.ends.buffer, answer.bytes.buffer] };
    },
    history: async (request) => {
      const answer = await chunks.history(request);
      return { answer, transfer: answer?.map(({ json }) => json.buffer) ?? [] };
    },
    contexts: async (requests) => {
      const answer = await chunks.contexts(unpackRequests(requests));
      return { answer, transfer: [answer.table.buffer, answer.bytes.buffer] };
    },
    moment: async (request) => {
      const answer = await chunks.moment(request);
      return { answer, transfer: answer === undefined ? [] : [answer.hashes.buffer, answer.newest.buffer] };
    },
    check: async () => {
      await rows.check();
      return plain(null);
    },
    close: async () => {
      await connection.close();
      return plain(null);
    },
  },
  callFailure,
);
