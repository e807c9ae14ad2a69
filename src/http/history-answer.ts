import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { HistoryPieces, OpenHistory } from "../domain/history.ts";
import type { Log } from "../ports/log.ts";
import { answerHead, jsonType } from "./envelope.ts";

/**
 * Answers with a history or a long list. The store's chunks go to the socket as they come and as fast as the client
 * reads; where the store fails after the first one, the connection is cut, so that no client takes a part for the
 * whole.
 */
export function streamed(request: FastifyRequest, reply: FastifyReply, history: OpenHistory, log: Log) {
  const { start, rest, warnings } = history;
  const head = `${answerHead(request.caller, warnings)},${start}`;
  return sendPieces(request, reply, jsonType, { head, rest, tail: "}" }, log);
}

/** A body in pieces: what stands before and after them. */
interface Body {
  readonly head: string;
  readonly rest: HistoryPieces;
  readonly tail: string;
}

/** The same for a body of any type. */
export function sendPieces(request: FastifyRequest, reply: FastifyReply, type: string, body: Body, log: Log) {
  // The request was answered with 408 meanwhile: nobody will read this.
  if (reply.sent) return void body.rest.return();
  reply.header("content-type", type);
  const brokeOff = (error: unknown) => {
    if (request.raw.socket.destroyed) return;
    log.error({ request: request.id, route: request.routeOptions.url, error }, "an answer broke off");
  };
  return new HistoryBody(body, brokeOff);
}

/**
 * The body of an answer with a history, for `pipe` alone. A piece is asked for when the one before has left this
 * process, and not when it has been passed on as other streams do: its memory is the store's, which then uses it again.
 */
class HistoryBody extends Readable {
  readonly #body: Body;
  readonly #brokeOff: (error: unknown) => void;

  /** `brokeOff`: told why not all of it could be sent. */
  constructor(body: Body, brokeOff: (error: unknown) => void) {
    super();
    this.#body = body;
    this.#brokeOff = brokeOff;
  }

  override pipe<T extends NodeJS.WritableStream>(answer: T): T {
    this.#send(answer).catch((error: Error) => {
      this.#brokeOff(error);
      this.destroy(error);
    });
    return answer;
  }

  async #send(answer: NodeJS.WritableStream): Promise<void> {
    const { head, rest, tail } = this.#body;
    let text = head;
    for await (const piece of rest) {
      if (typeof piece === "string") text += piece;
      else {
        await written(answer, text, piece);
        text = "";
      }
    }
    answer.end(text + tail);
    // The server looks whether it came to its end.
    this.push(null);
    this.resume();
  }

  override _read(): void {
    // Nothing is ever read from it but by `pipe`.
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#body.rest.return().then(() => done(error), done);
  }
}

/** Writes a text and bytes after it; resolves when they have left. Rejects where the connection is closed before. */
function written(answer: NodeJS.WritableStream, text: string, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const closed = () => reject(new Error("the connection was closed"));
    answer.once("close", closed);
    // In one turn, so that they go out together.
    answer.write(text);
    answer.write(bytes, (error) => {
      answer.off("close", closed);
      if (error) reject(error);
      else resolve();
    });
  });
}
