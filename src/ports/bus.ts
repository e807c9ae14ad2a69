/** What nodes and parts tell each other after a commit. */
export type BusEvent =
  /** A device was made, changed or deleted, or expired: connections and caches must ask again. */
  | {
      readonly type: "deviceChanged";
      readonly accountKey: number;
      readonly key: number;
      readonly id: string;
      /** The id that the device had before; absent: the same. An event with the old id was published first. */
      readonly formerId?: string;
    }
  /** A user was changed or deleted, or its key was. */
  | { readonly type: "userChanged"; readonly key: number }
  /** A group of the account was made, changed or deleted: what its users see must be asked again. */
  | { readonly type: "groupChanged"; readonly accountKey: number }
  /** A rule or a geofence of the account was made, changed or deleted. */
  | { readonly type: "rulesChanged"; readonly accountKey: number }
  /** Notices were committed, or are to be sent again. */
  | { readonly type: "noticesQueued" };

/** Delivers events to every node, this one included; at most once, so nothing may rest on it alone. */
export interface Bus {
  publish(event: BusEvent): void;
  /** Returns the way to stop listening. */
  subscribe(listener: (event: BusEvent) => void): () => void;
  close(): Promise<void>;
}
