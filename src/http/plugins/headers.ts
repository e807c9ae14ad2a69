import type { FastifyReply, FastifyRequest } from "fastify";

/** What every answer says to browsers and caches, also those that never reach a route. */
export const alwaysHeaders = { "x-content-type-options": "nosniff" } as const;

/** What nobody between may keep: answers of the API hold positions and keys. */
export const secretHeaders = { "cache-control": "no-store" } as const;

const ofApi = /^\/(?:api|health|metrics)(?:[/?]|$)/i;

/** Sets them on an answer. Pages and documents that are the same for everybody may be kept. */
export function guardAnswer({ url }: Pick<FastifyRequest, "url">, reply: FastifyReply): void {
  reply.headers(alwaysHeaders);
  if (ofApi.test(url)) reply.headers(secretHeaders);
}
