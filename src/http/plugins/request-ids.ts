import type { IncomingMessage } from "node:http";
import type { Ids } from "../../ports/ids.ts";

/**
 * The id that a caller gave in `X-Request-Id`, where it is fit for a log line; else a new one: random for the process,
 * then counted.
 */
export function requestIds(ids: Ids): (request: { readonly headers: IncomingMessage["headers"] }) => string {
  const prefix = ids.secret(6);
  let count = 0;
  return ({ headers }) => {
    const given = headers["x-request-id"];
    if (typeof given === "string" && /^[\w.:-]{1,64}$/.test(given)) return given;
    return `${prefix}-${(++count).toString(36)}`;
  };
}
