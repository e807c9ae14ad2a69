/** Numbers of advisory locks. They begin with "waybeam" in ASCII, so another program in the database is unlikely to use them. */
export const locks = {
  /** A program holds it while it brings the tables up to date. */
  opening: "33602696198316397",
  /** A service holds it while it runs, by a connection of its own. */
  service: "33602696198316398",
  /** The connections that write share it. A service that starts has it alone when it becomes the one that writes. */
  rows: "33602696198316400",
} as const;
