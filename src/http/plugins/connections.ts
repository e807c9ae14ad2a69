import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { addressGroup, networkTest } from "../../model/network.ts";
import type { Metrics } from "../../ports/metrics.ts";
import { Places } from "../../shares/places.ts";
import type { HttpLimits } from "../limits.ts";

type Socket = IncomingMessage["socket"];

/** A client's connection, and the answer to the last request on it that is not answered, or has not come. */
interface Connection {
  readonly socket: Socket;
  /** Its address as limits count it; undefined for a trusted proxy's, behind which are many. */
  readonly share: string | undefined;
  answer: ServerResponse | undefined;
}

/** The answer to the last request of a connection, while the answer is not sent or the request has not come. */
export type LastAnswer = (socket: Duplex) => ServerResponse | undefined;

/** Part of the places that one address has safely when all are taken. */
const sharePart = 1 / 16;

/**
 * Bounds the connections of all clients and of each address. Where there is no place, a connection that is not being
 * answered makes room: one of the address that is at its limit, or of the one that has most, or the one that was not
 * used for longest. So nobody keeps others out by holding connections open.
 */
export function shareConnections(
  server: Server,
  limits: Pick<HttpLimits, "connections" | "connectionsPerAddress">,
  trustProxy: string,
  metrics: Metrics,
): LastAnswer {
  const trusted = networkTest(trustProxy);
  const places = new Places<Connection>(Math.max(1, Math.floor(limits.connections * sharePart)));
  const bySocket = new WeakMap<Duplex, Connection>();
  const byPeer = new Map<string, Connection>();
  metrics.gauge("waybeam_http_connections", "Connections of the REST API.", () => places.size);
  const closed = metrics.counter("waybeam_http_connections_closed_total", "Connections closed at a limit, by cause.", [
    "cause",
  ]);

  /** Makes room for one more; false: there is none. */
  function makeRoom(share: string | undefined): boolean {
    if (share !== undefined && places.count(share) >= limits.connectionsPerAddress) {
      closed({ cause: "perAddress" }).add(1);
      return leave(places.nextOf(share, mayLeave));
    }
    if (places.size < limits.connections) return true;
    // Where all are being answered, only an address with more than its share is interrupted.
    const busy = places.next(share);
    const leaving = places.next(share, mayLeave) ?? (busy?.beyondShare === true ? busy : undefined);
    closed({ cause: leaving?.beyondShare === true ? "share" : "full" }).add(1);
    return leave(leaving?.connection);
  }

  function leave(connection: Connection | undefined): boolean {
    if (connection === undefined) return false;
    places.delete(connection);
    connection.socket.destroy();
    return true;
  }

  function answered(this: ServerResponse): void {
    const connection = bySocket.get(this.req.socket);
    if (connection?.answer !== this) return;
    if (this.req.complete) connection.answer = undefined;
    places.renew(connection);
  }

  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "";
    const share = trusted(address) ? undefined : addressGroup(address);
    if (!makeRoom(share)) {
      socket.destroy();
      return;
    }
    const connection: Connection = { socket, share, answer: undefined };
    places.add(connection);
    bySocket.set(socket, connection);
    const peer = peerOf(socket);
    byPeer.set(peer, connection);
    socket.once("close", () => {
      places.delete(connection);
      if (byPeer.get(peer) === connection) byPeer.delete(peer);
    });
  });
  // Over TLS requests come on another socket than the one that was accepted.
  server.on("secureConnection", (socket: Socket) => {
    const connection = byPeer.get(peerOf(socket));
    if (connection !== undefined) bySocket.set(socket, connection);
  });
  server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
    const connection = bySocket.get(request.socket);
    if (connection === undefined) return;
    connection.answer = response;
    // `once` would make a function for each.
    response.on("close", answered);
  });
  return (socket) => {
    const answer = bySocket.get(socket)?.answer;
    return answer?.writableFinished && answer.req.complete ? undefined : answer;
  };
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** Whether nothing is lost but a new connection: no request is under way, or it is not whole yet and may never be. */
function mayLeave({ answer }: Connection): boolean {
  return answer === undefined || answer.writableFinished || !answer.req.complete;
}
