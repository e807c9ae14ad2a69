import type { FastifyReply, FastifyRequest } from "fastify";

/** What every answer says to browsers and caches, also those that never reach a route. */
export const alwaysHeaders = { "x-content-type-options": "nosniff" } as const;

/** What nobody between may keep: answers of the API hold positions and keys. */
export const secretHeaders = { "cache-control": "no-store" } as const;

const ofApi = /^\/(?:api|health|metrics)(?:[/?]|$)/i;

/** Browsers that came by HTTPS come by nothing else for a year. */
const onlySecure = { "strict-transport-security": "max-age=31536000" } as const;

/** Sets them on an answer. Pages and documents that are the same for everybody may be kept. `secure`: it goes out by HTTPS. */
export function guardAnswer({ url }: Pick<FastifyRequest, "url">, reply: FastifyReply, secure: boolean): void {
  reply.header("x-content-type-options", alwaysHeaders["x-content-type-options"]);
  if (secure) reply.headers(onlySecure);
  if (url.startsWith("/api/") || ofApi.test(url)) reply.header("cache-control", secretHeaders["cache-control"]);
}
