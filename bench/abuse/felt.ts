/** What the other tenant does. */
export interface VictimPlan {
  readonly apiPort: number;
  readonly devicePort: number;
  /** Its own address of the loopback network. */
  readonly address: string;
  readonly devices: readonly string[];
  /** From one report of a tracker to its next, ms. */
  readonly trackerMs: number;
  /** Tokens of those who ask the API, one request at a time each. */
  readonly tokens: readonly string[];
  /** From one request of each to its next, ms. */
  readonly askerMs: number;
}

/** Times of one kind, from when it was due until it was answered, ms; and what went wrong, empty where nothing did. */
export interface Times {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly troubles: string;
}

/** What the other tenant felt in some time. */
export interface Felt {
  readonly acknowledgements: Times;
  readonly answers: Times;
}
