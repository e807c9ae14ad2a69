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

/** What the last look at a connection found. */
interface Seen {
  /** Bytes that had left. */
  left: number;
  /** Looks since more had left at which bytes waited. */
  looks: number;
}

/**
 * Closes connections that take nothing of an answer that waits for them for `unreadMs`; a write of which a part has left meanwhile counts as taken. What a
 * client sends meanwhile does not: a timeout of the socket would begin anew with each line break, and setting one costs a fiftieth of a short request.
 */
export function closeUnread(server: Server, unreadMs: number): void {
  const sockets = new Map<Socket, Seen>();
  const most = Math.ceil(unreadMs / lookMs);
  const closed = function closed(this: Socket) {
    sockets.delete(this);
  };
  const opened = (socket: Socket) => {
    sockets.set(socket, { left: -1, looks: 0 });
    socket.on("close", closed);
  };
  server.on("connection", opened);
  // Over TLS answers wait in another socket than the one that was accepted.
  server.on("secureConnection", opened);
  server.on("listening", () => {
    const looking = setInterval(() => {
      for (const [socket, seen] of sockets)
        if (socket.writableLength > 0 && looksAt(socket, seen) > most) reset(socket);
    }, lookMs);
    looking.unref();
    server.once("close", () => clearInterval(looking));
  });
}

/** Ends a connection without its unread bytes: after a usual end the system would keep them, some megabytes a connection, for minutes. */
function reset(socket: Socket & { readonly _parent?: Socket | null }): void {
  // Node resets no TLS socket, but the connection below.
  const below = socket._parent ?? socket;
  below.resetAndDestroy();
  if (below !== socket) socket.destroy();
}

/** How many looks in a row have found bytes waiting and none more gone. */
function looksAt(socket: Socket, seen: Seen): number {
  const left = leftOf(socket);
  seen.looks = left === seen.left ? seen.looks + 1 : 1;
  seen.left = left;
  return seen.looks;
}

/** What Node counts of a connection: all bytes that it was given, and those of them that have not left. Its types do not know of it. */
interface Handle {
  readonly bytesWritten?: number;
  readonly writeQueueSize?: number;
  /** Over TLS: the connection below. */
  readonly _parent?: Handle | null;
}

/**
 * Bytes that have left. They are counted at the connection below TLS, which counts a write until the whole of it has left, and to which a client can have bytes added
 * that it does not read either (it asks for new keys). What waits in the socket above is no part of it: more may come to wait.
 */
function leftOf({ _handle }: Socket & { readonly _handle?: Handle | null }): number {
  const below = _handle?._parent ?? _handle;
  return (below?.bytesWritten ?? 0) - (below?.writeQueueSize ?? 0);
}
