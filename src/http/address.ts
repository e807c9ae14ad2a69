import { addressGroup } from "../model/network.ts";

/** Longest text of an IP address: IPv6 with an IPv4 address at its end. */
const longestAddress = 45;

/**
 * What a request tells of where it comes from. Fastify's type does not say that nothing is told of a connection that
 * was reset.
 */
interface Requester {
  readonly ip: string | undefined;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/**
 * What limits count a request to (IPv6 by /64): the client's address, as a trusted proxy names it, else the
 * connection's. What a proxy passes on without looking may be any text; one that can't be an address is not kept.
 */
export function requesterOf({ ip = "", socket }: Requester): string {
  return addressGroup(ip.length <= longestAddress ? ip : (socket.remoteAddress ?? ""));
}
