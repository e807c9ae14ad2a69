/** What a connection said before: the identifier of its last message that had one. */
export interface MiniFinder2Session {
  readonly id: string | undefined;
}

/** A connection of which nothing is known. */
export const initialSession: MiniFinder2Session = Object.freeze({ id: undefined });
