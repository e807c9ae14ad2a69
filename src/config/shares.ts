import { integer } from "./kinds.ts";

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
