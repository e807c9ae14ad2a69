/** What a link shows: a device, or a group's devices. */
export type ShareTarget =
  | { readonly device: number }
  /** Public identifier of the group. */
  | { readonly group: string };

/** A link by which anybody may see where the devices of a user are, for a time. */
export interface Share {
  readonly key: number;
  /** Public identifier. */
  readonly id: string;
  readonly accountKey: number;
  /** Who made it, and through whose eyes it sees. */
  readonly userKey: number;
  readonly target: ShareTarget;
  /** What its holders read above the map. */
  readonly name: string;
  /** SHA-256 of the link's token, hex. */
  readonly tokenHash: string;
  readonly creation: number;
  readonly expires: number;
}

/** One that is made. */
export type NewShare = Omit<Share, "key">;
