import type { FastifyRequest } from "fastify";

/** Longest text of an IP address: IPv6 with an IPv4 address at its end. */
const longestAddress = 45;

/**
 * The address that limits count a request to: the client's, as a trusted proxy names it, else the connection's. What a proxy passes on
 * without looking may be any text; one that can't be an address is not kept.
 */
export function addressOf({ ip, socket }: FastifyRequest): string {
  return ip.length <= longestAddress ? ip : (socket.remoteAddress ?? "");
}
