/** A short message for a device: text, or bytes (8-bit binary). */
export type SmsBody = { readonly text: string } | { readonly bytes: Uint8Array };

/**
 * What the gateway said. `accepted`: it took the message, under these ids (one for each part; null where it gave none)
 * · `refused`: it never will, for the reason given · `unavailable`: it can't be reached or asks to come later; trying
 * again may help. `maybe`: the connection broke after the message was handed over. `throttled`: it works and only asks
 * for less. `sent`: parts of a message that is not sent as a whole which were handed over all the same, and are paid;
 * absent: none.
 */
export type SmsResult =
  | { readonly outcome: "accepted"; readonly ids: readonly (string | null)[] }
  | { readonly outcome: "refused"; readonly reason: string; readonly sent?: number }
  | {
      readonly outcome: "unavailable";
      readonly reason: string;
      readonly retryAfterMs?: number;
      readonly throttled?: true;
      readonly sent?: number;
    }
  | { readonly outcome: "maybe"; readonly reason: string };

/** A delivery receipt of the gateway. */
export interface SmsReceipt {
  readonly id: string;
  readonly delivered: boolean;
  /** The gateway's word for the state, such as DELIVRD, UNDELIV, EXPIRED. */
  readonly state: string;
}

/** A way to send SMS. */
export interface SmsSender {
  /** Whether it can carry 8-bit binary messages. */
  readonly binary: boolean;
  /** How many SMS the network carries a message in: what it costs. */
  parts(body: SmsBody): number;
  send(to: string, body: SmsBody): Promise<SmsResult>;
  /**
   * A receipt may come before the caller of `send` has recorded the ids that it names, and more than once. The gateway
   * is told that it arrived when what every listener gives has resolved; where one rejects, it is asked to deliver the
   * receipt again.
   */
  onReceipt(listener: (receipt: SmsReceipt) => Promise<void>): void;
  close(): Promise<void>;
}
