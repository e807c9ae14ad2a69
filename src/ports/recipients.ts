import type { Language } from "../model/language.ts";
import type { OutsideRecipient, RecipientChannel } from "../model/recipient.ts";
import type { Delivery } from "./mailer.ts";
import type { Page, PageAsk } from "./pages.ts";

/** Somebody outside the account, as rules and calls name it. */
export interface RecipientName {
  readonly accountKey: number;
  readonly channel: RecipientChannel;
  /** In the form in which addresses are compared. */
  readonly address: string;
}

/** A code that is to be sent to a recipient. */
export interface NewCode {
  /** Of the recipient, where it is new. */
  readonly id: string;
  readonly hash: string;
  /** Until when it is good while it is not known that it was sent: a crash may come between. */
  readonly expires: number;
  /** UTC day, in which codes are counted. */
  readonly day: string;
  /**
   * Day of the account, in which its e-mails and SMS are counted; how many it may send in it; and how many the message
   * is.
   */
  readonly accountDay: string;
  readonly accountLimit: number;
  readonly parts: number;
  /** Whether it is sent though the one before is good still. */
  readonly again: boolean;
}

/** How many codes may be sent in a UTC day, and how many recipients an account may have. */
export interface CodeLimits {
  /** To one address, whichever accounts ask. */
  readonly codesToAddress: number;
  readonly codesOfAccount: number;
  readonly perAccount: number;
}

/**
 * What came of asking. `asked`: the code is to be sent now · `known`: the recipient has answered, or a code is good
 * still · `address`, `account`: there were so many codes today · `sent`: the account's e-mails or SMS of the day are
 * used up · `full`: the account has so many recipients.
 */
export type Asked =
  | { readonly outcome: "asked" | "known"; readonly recipient: OutsideRecipient }
  | { readonly outcome: "address" | "account" | "sent" | "full" };

/** People outside of accounts, and whether they want notices. */
export interface RecipientStore {
  find(name: RecipientName): Promise<OutsideRecipient | undefined>;
  /** Of an account, in the order of their making. */
  page(accountKey: number, ask: PageAsk): Promise<Page<OutsideRecipient>>;
  /**
   * Records a code that is to be sent, with its places in all limits: of all or of none. It ends the code before. At
   * the limit of recipients one that was asked before today, did not answer and whose code has ended makes room.
   */
  ask(name: RecipientName, code: NewCode, limits: CodeLimits, now: number): Promise<Asked>;
  /** Lets a code that was sent be good until then; undefined: another one was asked for since, or it was used. */
  confirmSent(key: number, hash: string, expires: number): Promise<OutsideRecipient | undefined>;
  /** Ends a code that could not be sent; its places stay taken. One that was asked for since stays. */
  withdraw(key: number, hash: string): Promise<void>;
  /**
   * Confirms within the code's time, or refuses at any. `wrong`: no such recipient, no such code, or its time is over:
   * nobody can tell them apart. So many wrong ones end the code.
   */
  answer(
    name: RecipientName,
    hash: string,
    state: "confirmed" | "refused",
    mostWrong: number,
    now: number,
  ): Promise<OutsideRecipient | "wrong">;
  /**
   * Forgets a recipient of the account. `refused`: it must not be asked again, so it stays · `asked`: codes of this UTC
   * day are counted by it · `missing`: there is none.
   */
  remove(accountKey: number, id: string, day: string): Promise<"removed" | "refused" | "asked" | "missing">;
}

/** The question whether somebody wants an account's notices. */
export interface RecipientQuestion {
  readonly id: string;
  readonly channel: RecipientChannel;
  readonly to: string;
  readonly account: { readonly id: string; readonly name: string };
  readonly language: Language;
  readonly code: string;
}

/** Asks people by mail or SMS whether they want an account's notices. */
export interface RecipientAsking {
  /** How many e-mails or SMS a question is; undefined: by its channel nobody can be reached. */
  parts(question: RecipientQuestion): number | undefined;
  /** Sends it once. */
  send(question: RecipientQuestion): Promise<Delivery>;
}
