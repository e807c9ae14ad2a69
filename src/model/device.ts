/** Number of a device in the store, never used again after its deletion. Safe integer, 64-bit column. */
export type DeviceKey = number;

/** What an account asks of whoever says that it is the device. Where nothing is set, an identifier is enough. */
export interface IdentityRules {
  /** Ids of the protocols that it may speak; none: all. */
  readonly protocols: readonly string[];
  /** Networks that it may come from, as they were given (`networkPattern`); none: all. */
  readonly networks: readonly string[];
  /** Of the password or key that its messages must carry; null: none is asked. */
  readonly secretHash: string | null;
}

/** Nothing is asked. */
export const noIdentityRules: IdentityRules = Object.freeze({ protocols: [], networks: [], secretHash: null });

/**
 * A network that a device came from: the first 16 bits of an IPv4 address, the first 32 of an IPv6 one, as providers
 * get them.
 */
export interface SeenNetwork {
  readonly network: string;
  /** Epoch ms of its first report from there. */
  readonly since: number;
}

/** A way by which a device reports: a protocol over a transport. */
export interface SpokenWay {
  readonly protocol: string;
  readonly transport: "tcp" | "udp" | "http";
  /** Epoch ms of its first report, and the address it came from. */
  readonly since: number;
  readonly address: string;
  /** Epoch ms from which commands may go this way; null: it is not trusted yet. */
  readonly trustedAt: number | null;
  /** The networks that it came from this way, each once, the newest last; only the latest are kept. */
  readonly networks: readonly SeenNetwork[];
}

/** Units that senders mean by a number of speed, and what one of each is, km/h. */
export const kmhPer = Object.freeze({ kn: 1.852, "m/s": 3.6, "km/h": 1 });

/** A unit of speed. */
export type SpeedUnit = keyof typeof kmhPer;

/** A registered device. */
export interface Device {
  readonly key: DeviceKey;
  readonly accountKey: number;
  /** The identifier that the tracker reports (IMEI or other); unique service-wide. */
  readonly id: string;
  /** Other identifiers that it may report; unique service-wide among ids and aliases. */
  readonly aliases: readonly string[];
  readonly name: string;
  readonly description: string | null;
  /** Phone number of its SIM. */
  readonly min: string | null;
  readonly tags: { readonly [name: string]: string };
  /** Epoch ms from which its data is refused; null: never. */
  readonly expires: number | null;
  readonly dailyEmailLimit: number;
  readonly dailySmsLimit: number;
  /** Odometer start, km: what `milleage` counts from. */
  readonly odometerStart: number;
  readonly identity: IdentityRules;
  /** For how many days its positions are kept; null: as set for its account. */
  readonly positionDays: number | null;
  /** What its clock is ahead of UTC, seconds; it is taken off the times that it reports from then on. */
  readonly timeOffset: number;
  /** What its numbers of speed mean; null: what its protocol says. */
  readonly speedUnit: SpeedUnit | null;
  /** The ways by which it reported, in the order in which it first did. */
  readonly spoken: readonly SpokenWay[];
  readonly creation: number;
  readonly modification: number;
}

/** What of a device a caller may set. */
export type DeviceFields = Omit<Device, "key" | "accountKey" | "spoken" | "creation" | "modification">;

/**
 * Identifiers of devices: 1 to 64 of letters, digits, `-`, `_`, `.`, `:`, and `@`, `+`, `/` of phone apps, which paths
 * of URLs take percent-encoded; not `.` or `..`, which URL clients take for steps of a path.
 */
export const deviceIdPattern = "^(?!\\.{1,2}$)[A-Za-z0-9._:@+/-]{1,64}$";
