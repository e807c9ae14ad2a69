/** What a fleet did so far. Counts of reports, but for `connected` and `reconnects`. */
export interface FleetStats {
  readonly devices: number;
  /** Open connections. */
  readonly connected: number;
  /** Reports written to sockets, those sent again included. */
  readonly sent: number;
  /** Reports that the service acknowledged. */
  readonly acked: number;
  /** Reports sent in protocols that have no acknowledgements. */
  readonly unanswered: number;
  /** Of the sent ones: sent before, and never acknowledged then. */
  readonly resent: number;
  /**
   * Logins and reports that the service answered with no, and logins that it left unanswered or closed the connection
   * on.
   */
  readonly refused: number;
  /** Connections made after a first one was lost, or never came about. */
  readonly reconnects: number;
  /** Reports thrown away, oldest first, since the backlog of a tracker was full. */
  readonly dropped: number;
  /** Reports that wait in the trackers: not sent yet, or not acknowledged yet. */
  readonly waiting: number;
}

/** The counters while they are counted. */
export type Counts = { -readonly [K in keyof FleetStats]: number };

/** Counters at zero. */
export function newCounts(devices: number): Counts {
  const none = { connected: 0, sent: 0, acked: 0, unanswered: 0, resent: 0, refused: 0, reconnects: 0 };
  return { devices, ...none, dropped: 0, waiting: 0 };
}
