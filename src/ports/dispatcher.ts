/** What is written to a device: bytes as they are, or text that the protocol of its connection wraps. */
export type Outgoing = { readonly bytes: Uint8Array } | { readonly encode: string };

/** A device's reply. `ok` where its protocol tells success from failure. */
export interface DeviceReply {
  readonly text: string;
  readonly ok?: boolean;
}

/**
 * What became of a command that was given to a connection. `notConnected`: nobody to write to · `withheld`: the caller
 * had it not written · `noForm`: the protocol wraps no commands · `refused`: its form can't carry this text, for the
 * reason given · `answered`: the device's reply · `sent`: written, and no reply came in time · `lost`: written, and the
 * connection ended before a reply could come. Nothing was written for the first four.
 */
export type Dispatched =
  | { readonly outcome: "notConnected" | "withheld" | "noForm" }
  | { readonly outcome: "refused"; readonly reason: string }
  | ({ readonly outcome: "answered" } & DeviceReply)
  | {
      readonly outcome: "sent";
      /** The text of a reply that came in time and may be this command's, or an earlier one's that was not answered. */
      readonly unclear?: string;
      /**
       * The reply that comes late, or is known to be this command's only later; undefined: none came. It may stay open
       * as long as the connection.
       */
      readonly later: Promise<DeviceReply | undefined>;
    }
  | { readonly outcome: "lost" };

/** The way of a command to the connection that its device last spoke on, if this process has it. */
export interface Dispatcher {
  /**
   * Writes to the device and waits for its answer. One at a time for each device: a second one waits for the first.
   * `beforeWrite` is called once all else is settled and the bytes are about to be given to the connection; false, and
   * they are not. Where it rejects, nothing is written and so does the call. `notConnected` after it: the connection
   * ended meanwhile, and nothing was written.
   */
  dispatch(
    device: string,
    outgoing: Outgoing,
    waitMs: number,
    beforeWrite: () => Promise<boolean>,
  ): Promise<Dispatched>;
  /**
   * Tells each time that a device is reached anew (it connected, or identified again), after the reply to the message
   * that said so: what waits for it can be sent now.
   */
  onReachable(listener: (device: string) => void): void;
  /** Which process the device is connected to: that one writes what is queued for it. */
  where(device: string): "here" | "elsewhere" | "nowhere";
  /** Tells each time that this may have changed. */
  onElsewhere(listener: (device: string) => void): void;
}
