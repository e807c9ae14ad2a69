/** How somebody outside the account is reached. */
export type RecipientChannel = "email" | "sms";

/**
 * Whether somebody outside the account wants its notices. `pending`: was asked and has not answered · `refused`: wants
 * none, ever.
 */
export type RecipientState = "pending" | "confirmed" | "refused";

/** Somebody outside the account whom its rules name. */
export interface OutsideRecipient {
  readonly key: number;
  readonly id: string;
  readonly accountKey: number;
  readonly channel: RecipientChannel;
  /** In the form in which addresses are compared. */
  readonly address: string;
  readonly state: RecipientState;
  /** Until when the code that was sent last confirms; null: there is none. */
  readonly codeExpires: number | null;
  readonly creation: number;
  readonly modification: number;
}

/**
 * The form in which addresses are compared: e-mail addresses without capitals, numbers without what people write
 * between digits.
 */
export function recipientAddress(channel: RecipientChannel, to: string): string {
  return channel === "email" ? to.toLowerCase() : to.replaceAll(/[\s().-]/g, "");
}
