import { isUtf8 } from "node:buffer";
import type { FastifyInstance } from "fastify";
import { ApiError } from "../../errors/catalogue.ts";
import type { Steps } from "../../model/steps.ts";
import { bodyProblems } from "../body-problems.ts";
import type { LargeTurns } from "../large-turns.ts";
import { fixedLimits } from "../limits.ts";
import { colonsOf } from "../outline.ts";
import { hasRepeatedField } from "../repeated-fields.ts";

/**
 * Bodies are application/json and nothing else (415). Text that is not JSON, and what no body may hold, are bad
 * requests. An empty body counts as no body: clients send the header on DELETE too.
 */
export function parseJsonOnly(app: FastifyInstance, inTurn: LargeTurns): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (request, bytes, done) => {
    if (bytes.length === 0) return done(null, undefined);
    const reading = read(bytes);
    inTurn(request.caller?.user.accountKey ?? 0, bytes.length, () => {
      // Nobody waits for the steps of a large body, so whatever becomes of them is told to its request.
      const end = (error: Error | null, body?: unknown) => {
        done(error, body);
        return false;
      };
      if (request.raw.socket.destroyed) return end(new ApiError("badRequest", ["the connection was closed"]));
      const step = tried(reading);
      if (step instanceof Error) return end(step);
      if (step.done !== true) return true;
      const { body, problems } = step.value;
      if (problems.length === 0) return end(null, body);
      return end(new ApiError(request.routeOptions.config.invalid ?? "badRequest", problems));
    });
  });
}

/** What bytes are as JSON, and why they are refused. */
interface ReadBody {
  readonly body?: unknown;
  readonly problems: readonly string[];
}

function* read(bytes: Buffer): Steps<ReadBody> {
  // Decoded without this, what is not UTF-8 would be replaced in silence.
  if (!isUtf8(bytes)) return { problems: ["body: must be UTF-8"] };
  const text = bytes.toString("utf8");
  const colons = colonsOf(text, fixedLimits.nesting);
  if (colons === undefined) return { problems: ["body: is nested too deeply"] };
  yield;
  let body: unknown;
  try {
    // A byte order mark may be ignored (RFC 8259, section 8.1).
    body = JSON.parse(text.startsWith("\ufeff") ? text.slice(1) : text);
  } catch {
    return { problems: ["body: must be well-formed JSON"] };
  }
  yield;
  if (yield* hasRepeatedField(colons, body)) return { problems: ["body: a field stands twice in the same object"] };
  yield;
  const problems = yield* bodyProblems(body, text);
  yield;
  return { body, problems };
}

/** The next step, or the error that it throws. */
function tried(reading: Steps<ReadBody>): IteratorResult<undefined, ReadBody> | Error {
  try {
    return reading.next();
  } catch (error) {
    return error instanceof Error ? error : new Error("a body could not be read", { cause: error });
  }
}
