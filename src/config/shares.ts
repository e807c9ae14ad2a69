import { integer } from "./kinds.ts";

/** How the places of the REST API are shared. */
export const httpShares = {
  connections: integer(4000, {
    env: "WAYBEAM_HTTP_CONNECTIONS",
    minimum: 1,
    maximum: 1_000_000,
    unit: "connections",
    description:
      "Connections of the REST API at a time. Bounds memory and file descriptors, of which trackers need the most. When all are taken, one that is not being answered makes room: of the address that has most, else the one not used for longest.",
  }),
  connectionsPerAddress: integer(1000, {
    env: "WAYBEAM_HTTP_CONNECTIONS_PER_ADDRESS",
    minimum: 1,
    maximum: 1_000_000,
    unit: "connections",
    description:
      "Connections from one address (IPv6: one /64) at a time; at the limit one of its own that is not being answered makes room. An office behind one address has some hundred. Not for the proxies of `http.trustProxy`, from which all clients come.",
  }),
};

/** How those who bring no good token are limited. */
export const apiShares = {
  badTokensPerMinute: integer(300, {
    env: "WAYBEAM_API_BAD_TOKENS_PER_MINUTE",
    minimum: 1,
    maximum: 1_000_000_000,
    unit: "requests",
    description:
      "Requests in a minute from each address (IPv6: each /64) without a good token; further ones are answered 429. Requests with a good token from the same address are not limited by it.",
  }),
};

/** How the places and bytes of the trackers' port are shared. */
export const deviceShares = {
  keptForOthers: integer(10, {
    env: "WAYBEAM_DEVICE_KEPT_FOR_OTHERS",
    minimum: 0,
    maximum: 90,
    unit: "%",
    description:
      "Part of `device.connections` that one address (IPv6: one /64) never has, so that nobody takes the whole port. Low, since a mobile network puts whole fleets behind one address.",
  }),
  udpSessions: integer(50_000, {
    env: "WAYBEAM_DEVICE_UDP_SESSIONS",
    minimum: 1,
    maximum: 1_000_000,
    unit: "peers",
    description:
      "Trackers over UDP that are remembered by address and port, some 2 KB each. Who is forgotten says once more who it is; commands wait until then.",
  }),
  udpSessionsPerAddress: integer(3000, {
    env: "WAYBEAM_DEVICE_UDP_SESSIONS_PER_ADDRESS",
    minimum: 1,
    maximum: 1_000_000,
    unit: "peers",
    description:
      "One address's share of `device.udpSessions`. While places are free it may have more; when all are taken, the address with most beyond its share makes room, else the peer that was silent for longest.",
  }),
  bufferedBytes: integer(134_217_728, {
    env: "WAYBEAM_DEVICE_BUFFERED_BYTES",
    minimum: 1_048_576,
    maximum: 8_589_934_592,
    unit: "bytes",
    description:
      "Bytes of trackers that were read and wait, for the rest of their message or for the store. Beyond them nothing is read for a while: the trackers keep their data. A fleet of the largest size in the midst of its messages needs some 20 MB.",
  }),
  bufferedBytesPerAddress: integer(33_554_432, {
    env: "WAYBEAM_DEVICE_BUFFERED_BYTES_PER_ADDRESS",
    minimum: 65_536,
    maximum: 8_589_934_592,
    unit: "bytes",
    description:
      "Of these, what one address may have; beyond it only its own connections are not read. More than a whole fleet needs, less than what stops the others.",
  }),
};
