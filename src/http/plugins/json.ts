import type { FastifyInstance } from "fastify";

/**
 * Bodies are application/json and nothing else (415). Text that is not JSON, and objects that would reach JavaScript's prototypes, are bad
 * requests. An empty body is none: clients send the header on DELETE too.
 */
export function parseJsonOnly(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<string>("application/json", { parseAs: "string" }, (request, body, done) => {
    if (body.length === 0) done(null, undefined);
    else parse(request, body, done);
  });
}
