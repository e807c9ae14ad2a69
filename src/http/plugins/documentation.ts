import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "../../errors/catalogue.ts";
import { KeptBytes } from "../kept-bytes.ts";
import type { DocumentedRoute } from "./openapi.ts";
import { sharedSchemas } from "./shared-schemas.ts";

/**
 * The OpenAPI document and its page, made when somebody first asks: they take 6 MB, and most services never show them.
 */
export interface Documentation {
  /** The OpenAPI document of the routes that were registered after `collectDocumentation`. */
  document(): Promise<object>;
}

const config = { permission: "public" } as const;
const schema = { hide: true };

/** Paths of the page and its parts, decoded and in lower case: no part can be asked for, and kept, under many names. */
const partPath = /^\/docs(?:\/(?:json|yaml|static\/(?:theme\/)?[\w.-]+)?)?$/;

/**
 * Headers that are the connection's, or made anew by who sends the answer, and one that promises parts of files, which
 * are sent whole.
 */
const notPassedOn: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "date",
  "keep-alive",
  "accept-ranges",
]);

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

/**
 * `/openapi.json`, and the page at `/docs` that shows it. Their bytes are kept, and every answer sends the same ones: a
 * megabyte and a half for each would let anybody who asks often and reads nothing take the whole memory.
 */
export function documentationRoutes(app: FastifyInstance, { document, page }: ReturnType<typeof collectDocumentation>) {
  let made: Promise<Part> | undefined;
  app.get("/openapi.json", { config, schema }, async (request, reply) => {
    made ??= document().then((found) => ({
      headers: { "content-type": "application/json; charset=utf-8" },
      bytes: new KeptBytes(Buffer.from(JSON.stringify(found))),
    }));
    return sendPart(request, reply, await made);
  });

  const partOf = keptParts(page);
  for (const url of ["/docs", "/docs/*"])
    app.get(url, { config, schema, exposeHeadRoute: true }, async (request, reply) =>
      sendPart(request, reply, await partOf(pathOf(request))),
    );
}

/** A file of the page, as its server answered. */
interface Part {
  readonly headers: Readonly<Record<string, number | string | string[]>>;
  readonly bytes: KeptBytes;
}

/** Reads each part of the page once. Undefined: there is no such part. */
function keptParts(page: DocsPage): (path: string) => Promise<Part | undefined> {
  const parts = new Map<string, Promise<Part | undefined>>();

  async function read(path: string): Promise<Part | undefined> {
    const { statusCode, headers, rawPayload } = await (await page()).inject({ method: "GET", url: path });
    if (statusCode === 404) return undefined;
    if (statusCode !== 200) throw new Error(`the page's part ${path} is answered with ${statusCode}`);
    const passedOn = Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || notPassedOn.has(name) ? [] : [[name, value] as const],
    );
    return { headers: Object.fromEntries(passedOn), bytes: new KeptBytes(rawPayload) };
  }

  return async (path) => {
    if (!partPath.test(path)) return undefined;
    const reading = parts.get(path) ?? read(path);
    parts.set(path, reading);
    try {
      const part = await reading;
      if (part === undefined) parts.delete(path);
      return part;
    } catch (error) {
      parts.delete(path);
      throw error;
    }
  };
}

function pathOf({ url }: FastifyRequest): string {
  return decodeURIComponent(url.split("?", 1)[0] ?? "").toLowerCase();
}

async function sendPart(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  part: Part | undefined,
): Promise<FastifyReply> {
  if (part === undefined) throw new ApiError("notFound");
  reply.headers(part.headers).header("vary", "accept-encoding");
  const { etag } = part.headers;
  if (etag !== undefined && headers["if-none-match"] === etag) return reply.code(304).send();
  const { coding, bytes } = await part.bytes.for(headers["accept-encoding"]);
  return (coding === undefined ? reply : reply.header("content-encoding", coding)).send(bytes);
}
