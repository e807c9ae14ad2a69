import type { IncomingMessage, ServerResponse } from "node:http";
import { Spread } from "../shares/spread.ts";

type Socket = IncomingMessage["socket"];

/** Requests of one connection that wait, some KB each. Clients that send ahead at all send about ten. */
const mostWaiting = 32;
/**
 * Requests that waited and begin in one turn of the event loop. A hundred connections that sent twenty each, most of
 * which are refused, kept everybody else waiting for 200 ms.
 */
const atOnce = 2;

/**
 * Requests that a client sends before it has the answers to those before. Each begins when the answer before it has
 * left: so they see what those before them changed, a client that reads nothing has one answer made, and of a
 * connection that is gone nothing is begun.
 */
export class Pipeline {
  readonly #waiting = new WeakMap<Socket, number>();
  readonly #begin = new Spread<() => void>(atOnce, (begin) => begin());

  /**
   * Calls `begin` when the request's turn has come: at once where nothing is before it, never where the connection is
   * closed before. With a refusal where too many wait: they are not to wait, for Node's parser reads on while they do.
   */
  turn({ socket }: IncomingMessage, response: ServerResponse, begin: (refusal: string | undefined) => void): void {
    // Node gives a response its socket when the answers before it have left.
    if (response.socket !== null) begin(undefined);
    else if ((this.#waiting.get(socket) ?? 0) >= mostWaiting) begin(`${mostWaiting} requests wait on this connection`);
    else this.#wait(socket, response, begin);
  }

  #wait(socket: Socket, response: ServerResponse, begin: (refusal: undefined) => void): void {
    this.#count(socket, 1);
    const { assignSocket } = response;
    response.assignSocket = (given) => {
      assignSocket.call(response, given);
      // Not from within the answer that is sent.
      setImmediate(() =>
        this.#begin.add(() => {
          this.#count(socket, -1);
          if (!given.destroyed) begin(undefined);
        }),
      );
    };
  }

  #count(socket: Socket, more: number): void {
    this.#waiting.set(socket, (this.#waiting.get(socket) ?? 0) + more);
  }
}
