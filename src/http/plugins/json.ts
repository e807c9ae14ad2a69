import { isUtf8 } from "node:buffer";
import type { FastifyInstance } from "fastify";
import { ApiError } from "../../errors/catalogue.ts";
import type { Clock } from "../../ports/clock.ts";
import { bodyProblems } from "../body-problems.ts";
import { largeTurns } from "../large-turns.ts";
import { fixedLimits } from "../limits.ts";
import { nestedDeeperThan } from "../nesting.ts";
import { hasRepeatedField } from "../repeated-fields.ts";

/**
 * Bodies are application/json and nothing else (415). Text that is not JSON, and what no body may hold, are bad requests. An empty body counts as no body: clients
 * send the header on DELETE too.
 */
export function parseJsonOnly(app: FastifyInstance, clock: Clock): void {
  const inTurn = largeTurns(clock);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (request, bytes, done) => {
    if (bytes.length === 0) return done(null, undefined);
    inTurn(request.caller?.user.accountKey ?? 0, bytes.length, () => {
      if (request.raw.socket.destroyed) return done(new ApiError("badRequest", ["the connection was closed"]));
      const { body, problems } = read(bytes);
      if (problems.length === 0) done(null, body);
      else done(new ApiError(request.routeOptions.config.invalid ?? "badRequest", problems));
    });
  });
}

/** What bytes are as JSON, and why they are refused. */
function read(bytes: Buffer): { readonly body?: unknown; readonly problems: readonly string[] } {
  // Decoded without this, what is not UTF-8 would be replaced in silence.
  if (!isUtf8(bytes)) return { problems: ["body: must be UTF-8"] };
  const text = bytes.toString("utf8");
  if (nestedDeeperThan(text, fixedLimits.nesting)) return { problems: ["body: is nested too deeply"] };
  try {
    // A byte order mark may be ignored (RFC 8259, section 8.1).
    const body: unknown = JSON.parse(text.startsWith("\ufeff") ? text.slice(1) : text);
    if (hasRepeatedField(text, body)) return { problems: ["body: a field stands twice in the same object"] };
    return { body, problems: bodyProblems(body, text) };
  } catch {
    return { problems: ["body: must be well-formed JSON"] };
  }
}
