/** A group of devices of an account. */
export interface Group {
  readonly key: number;
  /** Public identifier. */
  readonly id: string;
  readonly accountKey: number;
  readonly name: string;
  readonly description: string | null;
  /**
   * Ids of its devices, in the order given; one that is not registered (any longer) is kept and grants nothing. Null:
   * not set.
   */
  readonly devices: readonly string[] | null;
  readonly creation: number;
  readonly lastModified: number;
}
