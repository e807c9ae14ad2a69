import type { IncomingMessage, Server } from "node:http";
import type { FastifyInstance } from "fastify";
import type { Answers } from "../answers.ts";

type Socket = IncomingMessage["socket"];

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

/** How often connections are looked at for bytes that wait, ms. */
const lookMs = 500;

/**
 * Closes connections that take nothing of an answer that waits for them for `unreadMs`; a write of which a part has left meanwhile counts as taken. Only
 * a connection for which bytes wait has this timeout: almost every answer leaves at once, and setting a timeout for each of them costs a fiftieth of a short request.
 */
export function closeUnread(server: Server, unreadMs: number): void {
  const sockets = new Set<Socket>();
  const closed = function closed(this: Socket) {
    sockets.delete(this);
  };
  const opened = (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", closed);
  };
  server.on("connection", opened);
  // Over TLS answers wait in another socket than the one that was accepted.
  server.on("secureConnection", opened);
  server.on("timeout", (socket) => {
    // Nothing waits for this one any more: what follows is still being made. One between two requests has another timeout, after which it is closed.
    if (socket.timeout === unreadMs && socket.writableLength === 0) socket.setTimeout(0);
    else socket.destroy();
  });
  server.on("listening", () => {
    const looking = setInterval(() => {
      for (const socket of sockets)
        if (socket.writableLength > 0 && socket.timeout !== unreadMs) socket.setTimeout(unreadMs);
    }, lookMs);
    looking.unref();
    server.once("close", () => clearInterval(looking));
  });
}
