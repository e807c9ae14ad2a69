import type { IncomingMessage, Server } from "node:http";
import type { FastifyInstance } from "fastify";
import type { Answers } from "../answers.ts";
import { queuedInSystem } from "./system-queue.ts";

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
  /** Bytes that had left and were in the system still, when it was last asked since more had left. */
  queued: number | undefined;
}

/**
 * Closes connections that take nothing of an answer that waits for them for `unreadMs`; a write of which a part has left meanwhile counts as taken. What a
 * client sends meanwhile does not: a timeout of the socket would begin anew with each line break, and setting one costs a fiftieth of a short request.
 * The system takes nothing more from this process before a third of some megabytes has gone to the client. So it is asked, too, what it holds of a
 * connection from which nothing leaves: a client that reads a few KB a second is slow, not gone.
 */
export function closeUnread(server: Server, unreadMs: number): void {
  const sockets = new Map<Socket, Seen>();
  const most = Math.ceil(unreadMs / lookMs);
  let asking = false;
  const closed = function closed(this: Socket) {
    sockets.delete(this);
  };
  const opened = (socket: Socket) => {
    sockets.set(socket, { left: -1, looks: 0, queued: undefined });
    socket.on("close", closed);
  };
  const look = async () => {
    const still: [Socket, Seen][] = [];
    for (const [socket, seen] of sockets)
      if (socket.writableLength > 0 && needsAnswer(looksAt(socket, seen), seen, most)) still.push([socket, seen]);
    if (asking || still.length === 0) return;
    asking = true;
    const queued = await queuedInSystem(still.map(([socket]) => descriptorOf(socket)));
    asking = false;
    for (const [socket, seen] of still) {
      // More may have left while the system was asked.
      if (!sockets.has(socket) || leftOf(socket) !== seen.left) continue;
      if (!takes(seen, queued.get(descriptorOf(socket)), most)) reset(socket);
    }
  };
  server.on("connection", opened);
  // Over TLS answers wait in another socket than the one that was accepted.
  server.on("secureConnection", opened);
  server.on("listening", () => {
    const looking = setInterval(look, lookMs);
    looking.unref();
    server.once("close", () => clearInterval(looking));
  });
}

/** Whether the system is to be asked about a connection: for the first time since nothing leaves, and when its time is over. */
function needsAnswer(looks: number, { queued }: Seen, most: number): boolean {
  return looks > most || (looks > 1 && queued === undefined);
}

/** Whether a connection may stay: its time is not over, or the system holds less of it than before, and then its time begins anew. */
function takes(seen: Seen, queued: number | undefined, most: number): boolean {
  const before = seen.queued;
  seen.queued = queued;
  if (seen.looks <= most) return true;
  if (before === undefined || queued === undefined || queued >= before) return false;
  seen.looks = 1;
  return true;
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
  if (left === seen.left) return ++seen.looks;
  seen.left = left;
  seen.looks = 1;
  seen.queued = undefined;
  return seen.looks;
}

/** What Node counts of a connection: all bytes that it was given, and those of them that have not left. Its types do not know of it. */
interface Handle {
  /** File descriptor. */
  readonly fd?: number;
  readonly bytesWritten?: number;
  readonly writeQueueSize?: number;
  /** Over TLS: the connection below. */
  readonly _parent?: Handle | null;
}

/**
 * Bytes that have left. They are counted at the connection below TLS, which counts a write until the whole of it has left, and to which a client can have bytes added
 * that it does not read either (it asks for new keys). What waits in the socket above is no part of it: more may come to wait.
 */
function leftOf(socket: Socket): number {
  const handle = handleOf(socket);
  return (handle?.bytesWritten ?? 0) - (handle?.writeQueueSize ?? 0);
}

/** -1 where there is none. */
function descriptorOf(socket: Socket): number {
  return handleOf(socket)?.fd ?? -1;
}

/** Of a connection below TLS, where there is TLS. */
function handleOf({ _handle }: Socket & { readonly _handle?: Handle | null }): Handle | undefined {
  return _handle?._parent ?? _handle ?? undefined;
}
