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
    const bytes = typeof payload === "string" || Buffer.isBuffer(payload) ? payload.length : 0;
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
  /** Looks at which bytes waited, since more had left or the system first told what it holds. */
  looks: number;
  /** Bytes that the system held when it last told, since more had left. */
  queued: number | undefined;
  /** The system's list did not have it at the last look. */
  missed: boolean;
}

/** A connection that the system is asked about. */
interface Asked {
  readonly socket: Socket;
  readonly seen: Seen;
  /** Bytes that had left when it was asked. */
  readonly left: number;
}

/**
 * Closes connections that take nothing of an answer that waits for them for `unreadMs`. A write of which a part has
 * left counts as taken. What a client sends counts as nothing: a timeout of the socket would begin anew with each line
 * break, and setting one costs a fiftieth of a short request. The system holds some megabytes of an answer, and takes
 * more from this process only when a third of them has gone to the client. So `ask` tells what the system holds of
 * connections from which nothing leaves: a client that reads a few KB a second is slow, not gone. The list of the
 * system has every connection of the machine, so reading the list takes long on a busy machine. Therefore the list is
 * read once at a time, and then not again for a third of `unreadMs`. A connection may be closed that much later.
 */
export function closeUnread(server: Server, unreadMs: number, ask = queuedInSystem): void {
  const sockets = new Map<Socket, Seen>();
  const most = Math.ceil(unreadMs / lookMs);
  /** Looks before the system may be asked again. */
  let pause = 0;
  const closed = function closed(this: Socket) {
    sockets.delete(this);
  };
  const opened = (socket: Socket) => {
    sockets.set(socket, { left: -1, looks: 0, queued: undefined, missed: false });
    socket.on("close", closed);
  };
  const judge = (still: readonly Asked[], queued: ReadonlyMap<number, number>) => {
    for (const { socket, seen, left } of still) {
      // While the system was asked, more may have left, or the connection has ended and its descriptor is another's.
      if (socket.destroyed || leftOf(socket) !== left) continue;
      if (!takes(seen, queued.get(descriptorOf(socket)), most)) reset(socket);
    }
  };
  const look = () => {
    const still: Asked[] = [];
    for (const [socket, seen] of sockets)
      if (socket.writableLength > 0 && needsAnswer(looksAt(socket, seen), seen, most))
        still.push({ socket, seen, left: seen.left });
    if (pause-- > 0 || still.length === 0) return;
    pause = Number.POSITIVE_INFINITY;
    ask(still.map(({ socket }) => descriptorOf(socket)))
      .catch(() => new Map<number, number>())
      .then((queued) => judge(still, queued))
      .finally(() => {
        pause = Math.ceil(most / 3);
      });
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

/**
 * Whether the system is to be asked about a connection: for the first time since nothing leaves, and when its time is
 * over.
 */
function needsAnswer(looks: number, { queued }: Seen, most: number): boolean {
  return looks > most || (looks > 1 && queued === undefined);
}

/**
 * Whether a connection may stay: its time is not over, or the system holds less of it than before. Then its time begins
 * anew. It begins anew with the first that the system tells, too: a client's system tells only every 100 KB what the
 * client has read, and that may take most of the time.
 */
function takes(seen: Seen, queued: number | undefined, most: number): boolean {
  const before = seen.queued;
  // To be missing once means nothing: the list changes while it is read, and can't be opened when file descriptors run
  // out.
  if (queued === undefined && before !== undefined && !seen.missed) {
    seen.missed = true;
    return true;
  }
  seen.missed = false;
  seen.queued = queued;
  if (queued !== undefined && (before === undefined || queued < before)) {
    seen.looks = 1;
    return true;
  }
  return seen.looks <= most;
}

/**
 * Ends a connection without its unread bytes: after a usual end the system would keep them, some megabytes a
 * connection, for minutes.
 */
function reset(socket: Socket & { readonly _parent?: Socket | null }): void {
  // Node resets no TLS socket, but the connection below.
  const below = socket._parent ?? socket;
  try {
    below.resetAndDestroy();
  } catch {
    // Only TCP knows a reset.
    below.destroy();
  }
  if (below !== socket) socket.destroy();
}

/** How many looks in a row have found bytes waiting and none more gone. */
function looksAt(socket: Socket, seen: Seen): number {
  const left = leftOf(socket);
  if (left === seen.left) return ++seen.looks;
  seen.left = left;
  seen.looks = 1;
  seen.queued = undefined;
  seen.missed = false;
  return seen.looks;
}

/**
 * What Node counts of a connection: all bytes that it was given, and those of them that have not left. Its types do not
 * know of it.
 */
interface Handle {
  /** File descriptor. */
  readonly fd?: number;
  readonly bytesWritten?: number;
  readonly writeQueueSize?: number;
  /** Over TLS: the connection below. */
  readonly _parent?: Handle | null;
}

/**
 * Bytes that have left. They are counted at the connection below TLS, which counts a write until the whole of it has
 * left, and to which a client can have bytes added that it does not read either (it asks for new keys). What waits in
 * the socket above is no part of it: more may come to wait.
 */
function leftOf(socket: Socket): number {
  const handle = handleOf(socket);
  return (handle?.bytesWritten ?? 0) - (handle?.writeQueueSize ?? 0);
}

/** The connection's file descriptor, or -1 when it has none. */
function descriptorOf(socket: Socket): number {
  return handleOf(socket)?.fd ?? -1;
}

/** Of a connection below TLS, where there is TLS. */
function handleOf({ _handle }: Socket & { readonly _handle?: Handle | null }): Handle | undefined {
  return _handle?._parent ?? _handle ?? undefined;
}
