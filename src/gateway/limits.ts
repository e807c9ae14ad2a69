/**
 * Every bound that the gateway keeps, each with its reason. Sizes are bytes, times seconds. The longest frame is the
 * protocol's own affair (`Framer.maximum`); everything else that a peer could make grow is here.
 */
export interface GatewayLimits {
  /**
   * Connections at a time. Bounds memory and file descriptors. When all are taken, the longest silent about its device
   * makes room.
   */
  readonly connections: number;
  /**
   * Connections from one address: high, since mobile networks and private APNs put whole fleets behind one. At the
   * limit its own half-open ones make room.
   */
  readonly connectionsPerAddress: number;
  /**
   * Part of `connections` that one address never has, percent: a fleet behind one address fits into the rest, and
   * others still get in.
   */
  readonly keptForOthers: number;
  /**
   * How often a minute logins from one address may end a device's older TCP connection. A tracker on a poor network
   * comes back every few seconds at worst; two trackers with one id, or somebody who knows it, would go on for ever:
   * beyond it the newer connection is closed. No setting: a tracker that comes back more often stores nothing, and
   * fewer would keep out one on a poor network.
   */
  readonly displacementsPerMinute: number;
  /**
   * Connections that did not say yet which device they are. A fleet that reconnects at once is half-open all together,
   * so it is high.
   */
  readonly halfOpen: number;
  /**
   * Of these, what one address may have when all places are taken; with more, it is the one that makes room, so that
   * nobody keeps others out with connections from one address. No bound while places are free, since a fleet behind a
   * mobile network's address comes back at once; and a sixteenth of them, since that many trackers identify within a
   * second or two.
   */
  readonly halfOpenPerAddress: number;
  /** Time to say which registered device it is. Trackers do so at once; scanners and slow senders never. */
  readonly identifySeconds: number;
  /**
   * HTTP: silence after a request of a known device. A phone that reports more rarely connects anew, which costs it
   * little.
   */
  readonly httpIdleSeconds: number;
  /**
   * HTTP: time from a request's first byte to its last. A phone sends some hundred bytes; what trickles in for longer
   * is no phone.
   */
  readonly httpRequestSeconds: number;
  /**
   * Silence after which a connection is dead: above the usual heartbeat intervals, since reconnecting costs a tracker's
   * battery and data.
   */
  readonly idleSeconds: number;
  /**
   * What a refused device (unknown, expired) may still send before it is closed: another of its connection's devices
   * may be known.
   */
  readonly refusedMessages: number;
  /** And how long: closed at once, many trackers would connect again at once. */
  readonly refusedSeconds: number;
  /**
   * How often an address may say in a minute, or at once, that it is a device which is not registered, has expired or
   * may not come so. Each time asks the store. High, since a whole fleet that nobody has registered yet may stand
   * behind a mobile network's address; far below what would be felt.
   */
  readonly knocksPerMinute: number;
  /**
   * How long no other conversation of a device must have been there, and how old a new way must be, until commands go
   * to a protocol or transport that the device never spoke before. A device that was exchanged for another model is
   * reached after an hour; who only knows its id waits for longer than it is away.
   */
  readonly exchangedSeconds: number;
  /**
   * How long a sender of datagrams must go on, while the one of another address is silent, to be taken for the device
   * that moved. Above the usual interval of reports on the way.
   */
  readonly movedSeconds: number;
  /**
   * Messages that wait for their commit; then the socket is not read. Enough for a backlog at full speed, no more than
   * memory bears.
   */
  readonly messagesInFlight: number;
  /**
   * Messages a second, on average over a few; faster senders are read more slowly (datagrams: dropped). Far above any
   * tracker, below what harms the others.
   */
  readonly messagesPerSecond: number;
  /**
   * Bytes in a row of no use (`Conduct`): line noise is shorter, another protocol or an attack is not. Before the
   * device is known, keep-alives are of no use either.
   */
  readonly junkBytes: number;
  /**
   * Bytes that were read and wait, of all connections and UDP peers together; beyond it nothing is read, until a
   * quarter of it is free again. A fleet of the largest size in the midst of its messages needs some 20 MB; a 64 KiB
   * chunk of backlog from each, while the store is waited for, would be over 1 GB.
   */
  readonly bufferedBytes: number;
  /**
   * Of these, what one address may have; beyond it its own connections are not read, and its largest unfinished
   * messages make room. A quarter: more than a fleet of the largest size needs, and nobody alone stops the reading of
   * all.
   */
  readonly bufferedBytesPerAddress: number;
  /** Replies that the peer does not read: every healthy tracker reads its few bytes at once. */
  readonly unsentBytes: number;
  /**
   * Identifiers that one connection may stand for (a gateway of several devices); the ones longest not heard make room.
   */
  readonly devicesPerConnection: number;
  /** Time for a whole HTTP request to be answered; then 503, and the sender tries again. */
  readonly answerSeconds: number;
  /** Peers that are known by address and port and sent a registered device's datagram; beyond them one makes room. */
  readonly udpSessions: number;
  /**
   * Of these, what one address may have when all places are taken; with more, it is the one that makes room, else the
   * one silent for longest.
   */
  readonly udpSessionsPerAddress: number;
  /**
   * Of these, what one device may have: its port changes when a mobile network gives it another one. More come only
   * from who forges its datagrams.
   */
  readonly udpSessionsPerDevice: number;
  /** Silence after which such a peer is forgotten: mobile networks give its port to somebody else by then. */
  readonly udpIdleSeconds: number;
  /**
   * Peers whose first device is being asked for; datagrams of further ones are dropped. Looking one up takes about a
   * millisecond, so it is enough for a fleet.
   */
  readonly udpAsking: number;
  /** Of these, what one address may have, so that a flood from it leaves places for others. */
  readonly udpAskingPerAddress: number;
  /** Longest datagram: what crosses a mobile network in few fragments; more is not sent by a tracker. */
  readonly datagramBytes: number;
  /**
   * Datagrams of one peer that wait until its device is known or earlier messages are stored; the rest is dropped, and
   * sent again.
   */
  readonly datagramsWaiting: number;
  /** Time that `stop` waits for what was submitted; what is not stored by then is not acknowledged. */
  readonly stopSeconds: number;
}

/** Limits that fit one process with 20,000 file descriptors. */
export const defaultLimits: GatewayLimits = Object.freeze({
  connections: 18_000,
  connectionsPerAddress: 18_000,
  keptForOthers: 10,
  displacementsPerMinute: 30,
  halfOpen: 16_000,
  halfOpenPerAddress: 1000,
  identifySeconds: 60,
  httpIdleSeconds: 300,
  httpRequestSeconds: 30,
  idleSeconds: 1800,
  refusedMessages: 8,
  refusedSeconds: 10,
  knocksPerMinute: 1200,
  exchangedSeconds: 3600,
  movedSeconds: 30,
  messagesInFlight: 64,
  messagesPerSecond: 2000,
  junkBytes: 4096,
  bufferedBytes: 134_217_728,
  bufferedBytesPerAddress: 33_554_432,
  unsentBytes: 65_536,
  devicesPerConnection: 256,
  answerSeconds: 30,
  udpSessions: 50_000,
  udpSessionsPerAddress: 3000,
  udpSessionsPerDevice: 4,
  udpIdleSeconds: 1800,
  udpAsking: 1000,
  udpAskingPerAddress: 250,
  datagramBytes: 8192,
  datagramsWaiting: 16,
  stopSeconds: 10,
});
