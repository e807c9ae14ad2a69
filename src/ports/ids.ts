/** The only source of randomness. */
export interface Ids {
  /** URL-safe text of that many random bytes. */
  secret(bytes: number): string;
  /** A new identifier that sorts by time (UUID version 7). */
  uuid(): string;
}
