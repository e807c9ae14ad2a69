import type { Language } from "./language.ts";

/** What a user is told about its own way in. */
export type LetterKind = "keyReplaced" | "keyEnded" | "emailChanged" | "passwordChanged" | "factorSet" | "factorEnded";

/** A mail of the service itself to one of its users. */
export interface Letter {
  readonly kind: LetterKind;
  readonly to: string;
  /** Whose letters are bounded together. */
  readonly accountKey: number;
  readonly language: Language;
  /** IANA name: the reader's. */
  readonly timeZone: string;
  /** When it happened, epoch ms. */
  readonly at: number;
  /** The e-mail address of who did it; the operator has none. */
  readonly by: string | null;
  /** The user's own address, where it is not the one that the letter goes to. */
  readonly userName: string;
}
