import type { Times } from "./times.ts";
import { DatabaseUnusable } from "./unusable.ts";
import { parseUrl, type ServerAddress } from "./url.ts";

/** What this engine's threads are started with. */
export interface Order {
  readonly url: string;
  /** Without TLS: the server has none, and the address allows that. */
  readonly isPlain: boolean;
  /** Unique to this run of the service. */
  readonly service: string;
  readonly times: Times;
}

/** The server and user of an order. */
export function addressOf({ url, isPlain }: Pick<Order, "url" | "isPlain">): ServerAddress {
  const parsed = parseUrl(url);
  if ("problems" in parsed) throw new DatabaseUnusable(parsed.problems);
  return isPlain ? { ...parsed.address, ssl: false } : parsed.address;
}

/** Numbers of advisory locks. They begin with "waybeam" in ASCII, so another program in the database is unlikely to use them. */
export const locks = {
  /** A program holds it while it brings the tables up to date. */
  opening: "33602696198316397",
  /** A service holds it while it runs, by a connection of its own. */
  service: "33602696198316398",
  /** The session that writes positions holds it. The next one gets it only after the last transaction of this one has ended. */
  writing: "33602696198316399",
  /** The connections for rows share it. A service that starts has it alone when it becomes the one that writes. */
  rows: "33602696198316400",
} as const;

/** The setting that names the last service that wrote positions, and the timeline of the server at that time. */
export const ownerSetting = "service";
