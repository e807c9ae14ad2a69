import type { FastifyReply } from "fastify";

/** What every answer says to browsers and caches, also those that never reach a route. */
export const alwaysHeaders = { "x-content-type-options": "nosniff" } as const;

/** What nobody between may keep: answers of the API hold positions and keys. */
export const secretHeaders = { "cache-control": "no-store" } as const;

/** Browsers that came by HTTPS come by nothing else for a year. */
const onlySecure = { "strict-transport-security": "max-age=31536000" } as const;

/**
 * Sets them on an answer, whatever its path: one path has many spellings. A route whose answer is the same for
 * everybody says so itself, with a header of its own. `secure`: the answer goes out by HTTPS.
 */
export function guardAnswer(reply: FastifyReply, secure: boolean): void {
  reply.header("x-content-type-options", alwaysHeaders["x-content-type-options"]);
  reply.header("cache-control", secretHeaders["cache-control"]);
  if (secure) reply.headers(onlySecure);
}
