/** An identifier that connected and is not registered. */
export interface QuarantinedDevice {
  readonly ids: readonly string[];
  readonly protocol: string;
  readonly address: string;
  /** Epoch ms of the first and the last attempt. */
  readonly firstSeen: number;
  readonly lastSeen: number;
  readonly attempts: number;
}

/** A bounded list of unknown devices; the ones not seen for longest make room. Nothing that they sent is kept. */
export interface Quarantine {
  add(ids: readonly string[], protocol: string, address: string): void;
  list(): readonly QuarantinedDevice[];
}
