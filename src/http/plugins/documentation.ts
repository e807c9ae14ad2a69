import type { FastifyInstance } from "fastify";
import { ApiError } from "../../errors/catalogue.ts";
import type { DocumentedRoute } from "./openapi.ts";
import { sharedSchemas } from "./shared-schemas.ts";

/** The OpenAPI document and its page, made when somebody first asks: they take 6 MB, and most services never show them. */
export interface Documentation {
  /** The OpenAPI document of the routes that were registered after `collectDocumentation`. */
  document(): Promise<object>;
}

const config = { permission: "public" } as const;
const schema = { hide: true };

/** Headers that are the connection's, or made anew by who sends the answer. */
const notPassedOn: ReadonlySet<string> = new Set(["connection", "content-length", "date", "keep-alive"]);

/** Makes a note of every route that is registered from now on. */
export function collectDocumentation(app: FastifyInstance): Documentation & { readonly page: DocsPage } {
  for (const shared of sharedSchemas) app.addSchema(shared);
  const routes: DocumentedRoute[] = [];
  app.addHook("onRoute", ({ method, url, schema }) => {
    if (method !== "HEAD" && schema?.hide !== true) routes.push({ method, url, ...(schema && { schema }) });
  });
  let made: Promise<FastifyInstance> | undefined;
  const documentation = () => {
    made ??= import("./openapi.ts").then(({ documentationOf }) => documentationOf(routes));
    return made;
  };
  return {
    document: async () => (await documentation()).swagger(),
    page: documentation,
  };
}

type DocsPage = () => Promise<FastifyInstance>;

/** `/openapi.json`, and the page at `/docs` that shows it. */
export function documentationRoutes(app: FastifyInstance, { document, page }: ReturnType<typeof collectDocumentation>) {
  let text: string | undefined;
  app.get("/openapi.json", { config, schema }, async (_request, reply) => {
    text ??= JSON.stringify(await document());
    return reply.type("application/json; charset=utf-8").send(text);
  });

  for (const url of ["/docs", "/docs/*"])
    app.get(url, { config, schema, exposeHeadRoute: true }, async (request, reply) => {
      const { headers, url: path } = request;
      const answer = await (await page()).inject({ method: "GET", url: path, headers });
      if (answer.statusCode === 404) throw new ApiError("notFound");
      for (const [name, value] of Object.entries(answer.headers))
        if (value !== undefined && !notPassedOn.has(name)) reply.header(name, value);
      return reply.code(answer.statusCode).send(answer.rawPayload);
    });
}
