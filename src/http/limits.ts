import type { ShareLimits } from "../domain/shares.ts";
import type { TripSettings } from "../domain/trips/index.ts";
/** Bounds of what requests under way and unread answers hold; the settings `answers` say why they are so. */
export interface AnswerLimits {
  readonly requestsAtOnce: number;
  readonly requestsAtOncePerAccount: number;
  readonly unreadMegabytes: number;
  readonly unreadMegabytesPerAccount: number;
  readonly unreadMegabytesInAll: number;
  readonly unreadSeconds: number;
}

/** How long sessions of people last, and how often they may try to sign in; the settings `sessions` say why. */
export interface SessionLimits {
  readonly idleSeconds: number;
  readonly longestSeconds: number;
  readonly perUser: number;
  readonly triesPerMinute: number;
  readonly wrongPerHour: number;
}

/** Live streams that may be open; the settings `streams` say why they are so. */
export interface StreamLimits {
  readonly perUser: number;
  readonly perAccount: number;
  readonly inAll: number;
}

/** Limits of the HTTP side that a service may set. Their defaults stand in `defaultLimits`, each with its reason. */
export interface HttpLimits {
  /** Connections at a time. */
  readonly connections: number;
  /** Connections at a time from each address (IPv6: each /64), but for trusted proxies. */
  readonly connectionsPerAddress: number;
  /** Largest body of a request, bytes. */
  readonly bodyLimit: number;
  /** Time in which a request must have arrived, and then its answer must begin. */
  readonly timeoutSeconds: number;
  /** Lifetime of an access token. */
  readonly tokenSeconds: number;
  /** Requests a minute for each user. */
  readonly requestsPerMinute: number;
  /** Requests a minute without a good token, from each address. */
  readonly badTokensPerMinute: number;
  /** Token requests a minute from each address, and for each user name: with its key, and with wrong ones. */
  readonly tokenRequestsPerMinute: number;
  /** Records that can be read from each device in a UTC day. */
  readonly dailyResults: number;
  /** Time that a command's answer waits for the device's reply. */
  readonly commandWaitSeconds: number;
  readonly answers: AnswerLimits;
  readonly sessions: SessionLimits;
  /** What makes a trip, where a request does not say. */
  readonly trips: TripSettings;
  readonly streams: StreamLimits;
  /** The settings `links` say why they are so. */
  readonly links: ShareLimits;
}

/** The limits that are in force unless set otherwise, each with its reason. */
export const defaultLimits: HttpLimits = Object.freeze({
  // A share of the 20,000 file descriptors of a usual process; trackers need the most of them.
  connections: 4000,
  // An office behind one address has some hundred; a quarter of all leaves places for others.
  connectionsPerAddress: 1000,
  // Far above any sensible request (10,000 devices of a group are 0.2 MB), far below what would fill the memory.
  bodyLimit: 1_048_576,
  // Longer than any call that works takes, shorter than the patience of proxies and clients (often 60 s).
  timeoutSeconds: 30,
  // A working day and a night: a client renews once a day, and a token that leaked ends by itself.
  tokenSeconds: 86_400,
  // 50 a second: enough to poll every second and load pages beside it, and one client can't starve the others.
  requestsPerMinute: 3000,
  // Five a second: a page whose token has just ended makes some dozens, a client that goes on without one learns to
  // wait.
  badTokensPerMinute: 300,
  // A client needs one a day. API keys can't be guessed by trying, so this only bounds the work that strangers make.
  tokenRequestsPerMinute: 30,
  // A fix every second for two days; whoever copies whole histories does it with cursors, over days.
  dailyResults: 200_000,
  // A tracker on a mobile network answers in one to five; a client and its proxies still wait.
  commandWaitSeconds: 10,
  // Longer than at a level crossing, than in a tunnel or on a ferry; farther than within a yard.
  trips: { stopSeconds: 300, gapSeconds: 3600, leastMetres: 200 },
  answers: {
    requestsAtOnce: 100,
    requestsAtOncePerAccount: 250,
    unreadMegabytes: 16,
    unreadMegabytesPerAccount: 48,
    unreadMegabytesInAll: 192,
    unreadSeconds: 15,
  },
  sessions: { idleSeconds: 86_400, longestSeconds: 2_592_000, perUser: 50, triesPerMinute: 30, wrongPerHour: 100 },
  streams: { perUser: 20, perAccount: 1000, inAll: 2000 },
  links: { perUser: 100, longestDays: 366, requestsPerMinute: 300 },
});

/** Limits that nobody needs to set. */
export const fixedLimits = Object.freeze({
  /** Headers must be there sooner than bodies: they are small, and slow ones are an old attack. */
  headersTimeoutMs: 15_000,
  /** How often connections are checked for the two timeouts. */
  checkConnectionsMs: 2000,
  /** Kept open between requests: longer than the usual 60 s of load balancers, so that these close first. */
  keepAliveMs: 72_000,
  /** Time for the answers under way to end when the service stops. */
  closeGraceMs: 5000,
  /**
   * Longest path parameter: all that fits the 16 KB of headers, so that too long an id is an unknown device like any
   * other.
   */
  parameterLength: 16_384,
  /**
   * Arrays and objects of a body in each other: ten times what any call has. A body that is nothing but brackets takes
   * as long to read as hundreds of others.
   */
  nesting: 100,
  /** Problems named in one answer. */
  details: 20,
  /** Addresses and user names that are counted, each kind by itself: 10,000 of some 100 bytes. */
  countedNames: 10_000,
  /** Seconds after which to try again while the store is down. */
  retryAfterSeconds: 5,
  /** Seconds after which to try again where the client's own requests or answers are too many. */
  retrySoonSeconds: 1,
});
