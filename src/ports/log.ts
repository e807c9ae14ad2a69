/** Structured log. Fields never hold secrets: keys, tokens, passwords and their hashes stay out. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** A log whose lines all carry these fields. */
  child(fields: Readonly<Record<string, string | number>>): Log;
}
