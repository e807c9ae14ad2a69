import type { Server } from "node:http";
import type { FastifyInstance } from "fastify";
import type { Answers } from "../answers.ts";

/** Methods that change nothing: their answers can be refused for their size. */
const safe: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** Counts answers that are sent in one piece until they have left, unless they count themselves. */
export function countUnread(app: FastifyInstance, answers: Answers): void {
  app.addHook("onSend", (request, reply, payload, done) => {
    const bytes = typeof payload === "string" ? payload.length : Buffer.isBuffer(payload) ? payload.length : 0;
    if (bytes === 0 || answers.counts(reply)) return done(null, payload);
    try {
      // A refusal would be no smaller than another failure.
      if (safe.has(request.method) && reply.statusCode < 400) answers.hold(reply, bytes);
      else answers.holdDone(reply, bytes);
      done(null, payload);
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

/**
 * Closes connections that take nothing of an answer that waits for them. `unreadMs` is the server's timeout while a request is under way, after which Node
 * tells of a connection on which nothing moved; a write of which a part has left meanwhile counts as moving.
 */
export function closeUnread(server: Server, unreadMs: number): void {
  server.on("timeout", (socket) => {
    // Nothing waits for this one: its answer is still being made. One between two requests has another timeout, after which it is closed.
    if (socket.timeout === unreadMs && socket.writableLength === 0) socket.setTimeout(unreadMs);
    else socket.destroy();
  });
}
