import type { Socket } from "node:net";
import { Spread } from "../shares/spread.ts";

/** Who gets what a socket brings. */
export interface SocketOwner {
  received(chunk: Uint8Array): void;
  /** The peer sends no more. */
  ended(): void;
  close(cause: "error" | "peer"): void;
}

const owner = Symbol("owner");

/** A socket that knows its owner, so that four functions serve all sockets and none needs closures of its own. */
export interface OwnedSocket extends Socket {
  [owner]?: SocketOwner | undefined;
}

/** Gives the socket's events to `by` from now on. */
export function own(socket: OwnedSocket, by: SocketOwner): void {
  socket[owner] = by;
  socket.on("data", onData).on("end", onEnd).on("error", onError).on("close", onClose);
}

/** Gives the events of a socket that has an owner to another one. */
export function handOver(socket: OwnedSocket, to: SocketOwner): void {
  socket[owner] = to;
}

/** Bytes that were offered to the peer and that it did not take. What is gathered was not offered yet. */
export function unsentOf(socket: OwnedSocket): number {
  return socket.writableCorked > 0 ? 0 : socket.writableLength;
}

/**
 * What is written in the present step goes to the system in one piece: one call for the replies to a burst, not one for
 * each.
 */
export function gather(socket: OwnedSocket): void {
  if (socket.writableCorked > 0) return;
  socket.cork();
  queueMicrotask(() => socket.uncork());
}

/**
 * Ends the socket at once and gives nobody anything more; the owner can be forgotten before the socket is. What was
 * gathered is offered before: it says what is stored.
 */
export function drop(socket: OwnedSocket): void {
  socket[owner] = undefined;
  socket.uncork();
  socket.destroy();
}

function onData(this: OwnedSocket, chunk: Buffer): void {
  this[owner]?.received(chunk);
}
/** The system needs 50 µs to close a socket, and thousands of peers may end in one turn. */
const ended = new Spread<OwnedSocket>(64, (socket) => socket[owner]?.ended());
function onEnd(this: OwnedSocket): void {
  ended.add(this);
}
function onError(this: OwnedSocket): void {
  this[owner]?.close("error");
}
function onClose(this: OwnedSocket): void {
  this[owner]?.close("peer");
}
