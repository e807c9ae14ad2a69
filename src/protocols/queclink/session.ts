/** What a connection said before. */
export interface Session {
  /** Identifier of the last message. */
  readonly id: string | undefined;
}
