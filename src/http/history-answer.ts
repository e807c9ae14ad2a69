import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { HistoryPieces, OpenHistory } from "../domain/history.ts";
import { answerHead, callerOf, jsonType } from "./envelope.ts";

/**
 * Answers with a history. The store's chunks go to the socket as they come and as fast as the client reads; where the store fails after the first
 * one, the connection is cut, so that no client takes a part for the whole.
 */
export function historyAnswer(request: FastifyRequest, reply: FastifyReply, { start, rest, warnings }: OpenHistory) {
  // The request was answered with 408 meanwhile: nobody will read this.
  if (reply.sent) return void rest.return();
  reply.header("content-type", jsonType);
  return Readable.from(framed(`${answerHead(callerOf(request), warnings)},${start}`, rest), { objectMode: false });
}

async function* framed(head: string, rest: HistoryPieces): AsyncGenerator<string | Uint8Array> {
  try {
    yield head;
    yield* rest;
    yield "}";
  } finally {
    await rest.return();
  }
}
