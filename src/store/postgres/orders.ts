import type { Times } from "./pool.ts";
import { DatabaseUnusable } from "./unusable.ts";
import { parseUrl, type ServerAddress } from "./url.ts";

/** What the threads of this engine are started with. */
export interface Order {
  readonly url: string;
  /** The server has no TLS, and the address allows that. */
  readonly isPlain: boolean;
  /** Who we are: no other service, and no other start of this one, has this text. */
  readonly service: string;
  readonly times: Times;
}

/** The server of an order, and who asks there. */
export function addressOf({ url, isPlain }: Pick<Order, "url" | "isPlain">): ServerAddress {
  const parsed = parseUrl(url);
  if ("problems" in parsed) throw new DatabaseUnusable(parsed.problems);
  return isPlain ? { ...parsed.address, ssl: false } : parsed.address;
}

/** Numbers of the locks of sessions (pg_advisory_lock). A program that shares the database is unlikely to use them: they are "waybeam" in ASCII, and more. */
export const locks = {
  /** A service holds it while it runs, by a connection of its own. */
  service: "33602696198316398",
  /** The connection that writes positions holds it, so no other one does until the transactions of this one have ended. */
  writing: "33602696198316399",
} as const;

/** The setting that names the last service that wrote positions, and the timeline of the server at that time. */
export const ownerSetting = "service";
