import { parseInstant } from "../contract/time.ts";
import { ApiError } from "../errors/catalogue.ts";

/**
 * The range of time that a request's body names, both ends inclusive, epoch ms.
 * @throws ApiError `badRequest`
 */
export function momentsOf(body: { readonly from: string; readonly to: string }): {
  readonly from: number;
  readonly to: number;
} {
  const from = parseInstant(body.from);
  const to = parseInstant(body.to);
  const details: string[] = [];
  if (from === undefined) details.push("body/from: must be an RFC 3339 date-time");
  if (to === undefined) details.push("body/to: must be an RFC 3339 date-time");
  if (from !== undefined && to !== undefined && from > to) details.push("body/to: must not be before body/from");
  if (from === undefined || to === undefined || details.length > 0) throw new ApiError("badRequest", details);
  return { from, to };
}
