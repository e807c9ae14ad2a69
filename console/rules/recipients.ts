import type { components } from "../api/schema.ts";

type Channels = components["schemas"]["AlertRule"]["channels"];
/** Somebody whom a rule tells. */
export type Recipient = NonNullable<Channels["email"]>[number];

/** Somebody whom a rule tells, as a form has it. */
export interface RecipientRow {
  to: string;
  /** "": that of the account. */
  language: NonNullable<Recipient["language"]> | "";
}

/** The rows of a channel. */
export function recipientRows(recipients: readonly Recipient[] = []): RecipientRow[] {
  return recipients.map(({ to, language }) => ({ to, language: language ?? "" }));
}

/** The recipients of such rows; what a form does not show of one stays. Rows without an address are none. */
export function recipientsOf(rows: readonly RecipientRow[], before: readonly Recipient[] = []): Recipient[] {
  return rows
    .map(({ to, language }) => ({ to: to.trim(), language }))
    .filter(({ to }) => to !== "")
    .map(({ to, language }) => {
      const { language: _, ...rest } = before.find((each) => each.to === to) ?? {};
      return { ...rest, to, ...(language !== "" && { language }) };
    });
}
