/**
 * Numbers of advisory locks. They begin with "waybeam" in ASCII, so another program in the database is unlikely to use
 * them.
 */
export const locks = {
  /** A program holds it while it brings the tables up to date. */
  opening: "33602696198316397",
  /** All connections of services share it. A move or a change of the secret key holds it alone. */
  service: "33602696198316398",
  /** A process holds it while it looks at the others, and changes who follows what. */
  tend: "33602696198316399",
  /**
   * A process holds it while it tells the others something, so that what is told becomes visible in the order of its
   * numbers.
   */
  tell: "33602696198316400",
} as const;
