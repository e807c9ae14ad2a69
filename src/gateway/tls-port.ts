import type { Socket } from "node:net";
import { createServer, type Server, type TLSSocket } from "node:tls";
import type { TlsOptions } from "../ports/certificate.ts";
import { handOver, type SocketOwner } from "./owned-socket.ts";

/** The first octet of a TLS connection, a handshake record (RFC 8446, 5.1). No protocol of trackers begins with it. */
export const tlsHandshake = 0x16;

/** Time for a handshake, ms: slow trackers on slow networks need some seconds. */
const handshakeMs = 20_000;

/** OpenSSL has the ciphers of old versions only below its usual level. */
const oldCiphers = "DEFAULT@SECLEVEL=0";

/**
 * Makes TLS connections of accepted sockets. Listens nowhere by itself: sockets are counted and limited before they
 * come here.
 */
export class TlsPort {
  readonly #server: Server;
  /** By the peer's address and port: which TLS socket belongs to whom is told by nothing else. */
  readonly #waiting = new Map<string, (socket: TLSSocket) => void>();

  constructor({ certificate, minVersion }: TlsOptions) {
    const old = minVersion === "TLSv1" || minVersion === "TLSv1.1";
    const options = { minVersion, ...(old && { ciphers: oldCiphers }) };
    // Half-open as plain sockets: who has sent its last byte still gets its answers.
    this.#server = createServer({
      ...options,
      ...certificate.pair,
      allowHalfOpen: true,
      handshakeTimeout: handshakeMs,
    });
    certificate.onChange((pair) => this.#server.setSecureContext({ ...options, ...pair }));
    this.#server.on("secureConnection", (socket) => {
      const secured = this.#waiting.get(peerOf(socket));
      if (secured === undefined) socket.destroy();
      else secured(socket);
    });
    this.#server.on("tlsClientError", (_error, socket) => void socket.destroy());
  }

  /**
   * Begins the handshake of a socket that nobody reads any more; `first`: what it brought already. `secured` is called
   * if it succeeds; otherwise the socket is closed.
   */
  take(socket: Socket, first: Uint8Array, secured: (socket: TLSSocket) => void): void {
    const peer = peerOf(socket);
    this.#waiting.set(peer, (secure) => {
      this.#waiting.delete(peer);
      secured(secure);
    });
    socket.once("close", () => this.#waiting.delete(peer));
    socket.pause();
    socket.unshift(first);
    this.#server.emit("connection", socket);
  }
}

function peerOf({ remoteAddress, remotePort, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localPort}`;
}

/** What a connection is to this: it has the socket's events, and takes the TLS socket in its place. */
interface Secured extends SocketOwner {
  adopt(socket: Socket): void;
}

/** Stands before a connection until its first octets tell whether it is TLS. */
export class TlsDoor implements SocketOwner {
  readonly #port: TlsPort;
  readonly #socket: Socket;
  readonly #connection: Secured;
  #shaking = false;

  constructor(port: TlsPort, socket: Socket, connection: Secured) {
    this.#port = port;
    this.#socket = socket;
    this.#connection = connection;
    handOver(socket, this);
  }

  received(chunk: Uint8Array): void {
    // What the socket gave back is read once more by its TLS.
    if (this.#shaking) return;
    if (chunk[0] !== tlsHandshake) {
      handOver(this.#socket, this.#connection);
      this.#connection.received(chunk);
      return;
    }
    this.#shaking = true;
    this.#port.take(this.#socket, chunk, (socket) => this.#connection.adopt(socket));
  }

  ended(): void {
    this.#connection.ended();
  }

  close(cause: "error" | "peer"): void {
    this.#connection.close(cause);
  }
}
