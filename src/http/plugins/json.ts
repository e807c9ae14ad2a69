import type { FastifyInstance } from "fastify";
import { ApiError } from "../../errors/catalogue.ts";
import { bodyProblems } from "../body-problems.ts";

/**
 * Bodies are application/json and nothing else (415). Text that is not JSON, and what no body may hold, are bad requests. An empty body is none: clients
 * send the header on DELETE too.
 */
export function parseJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<string>("application/json", { parseAs: "string" }, (request, text, done) => {
    if (text.length === 0) return done(null, undefined);
    const parsed = parse(text);
    const problems = parsed === undefined ? ["body: must be well-formed JSON"] : bodyProblems(parsed.body, text);
    if (problems.length === 0) done(null, parsed?.body);
    else done(new ApiError(request.routeOptions.config.invalid ?? "badRequest", problems));
  });
}

/** The value that a text is as JSON; undefined: it is none. */
function parse(text: string): { readonly body: unknown } | undefined {
  try {
    // A byte order mark may be ignored (RFC 8259, section 8.1).
    return { body: JSON.parse(text.startsWith("\ufeff") ? text.slice(1) : text) };
  } catch {
    return undefined;
  }
}
