import { parseInstant } from "../contract/time.ts";
import { ApiError } from "../errors/catalogue.ts";

/**
 * The range of time that a request's body, or another part of it, names; both ends inclusive, epoch ms.
 * @throws ApiError `badRequest`
 */
export function momentsOf(
  part: { readonly from: string; readonly to: string },
  where = "body",
): { readonly from: number; readonly to: number } {
  const from = parseInstant(part.from);
  const to = parseInstant(part.to);
  const details: string[] = [];
  if (from === undefined) details.push(`${where}/from: must be an RFC 3339 date-time`);
  if (to === undefined) details.push(`${where}/to: must be an RFC 3339 date-time`);
  if (from !== undefined && to !== undefined && from > to)
    details.push(`${where}/to: must not be before ${where}/from`);
  if (from === undefined || to === undefined || details.length > 0) throw new ApiError("badRequest", details);
  return { from, to };
}
