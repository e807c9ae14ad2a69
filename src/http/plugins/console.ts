import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "../../errors/catalogue.ts";
import { type Coding, codingOf } from "../kept-bytes.ts";

const config = { permission: "public" } as const;
const schema = { hide: true };

/** Where the build leaves the console. */
export const builtConsole = join(import.meta.dirname, "../../../console/dist");

/** The console's files, and what an operator says of its map. */
export interface ConsoleOptions {
  readonly folder: string;
  /** Address of the map's style; empty: the console brings its own. */
  readonly mapStyle: string;
  /** Origins that the style needs beside its own, with commas between. */
  readonly mapOrigins: string;
}

/**
 * Only files of this service, and nothing that is written into the page: neither script nor style. A map of others adds
 * their hosts, for what is shown and never for what runs.
 */
function policyOf({ mapStyle, mapOrigins }: ConsoleOptions): string {
  const own = mapStyle === "" ? [] : [new URL(mapStyle).origin];
  const others = mapOrigins.split(",").map((origin) => origin.trim());
  const hosts = [...new Set([...own, ...others])].filter((origin) => origin !== "").map((origin) => ` ${origin}`);
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data: blob:${hosts.join("")}`,
    `connect-src 'self'${hosts.join("")}`,
    "worker-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}

const pageHeaders = {
  "content-type": "text/html; charset=utf-8",
  "referrer-policy": "same-origin",
  "permissions-policy": "geolocation=(self), camera=(), microphone=()",
  "cross-origin-opener-policy": "same-origin",
};

const types: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  svg: "image/svg+xml",
};

/** A name says what is in the file: whoever has one never needs to ask again. */
const assetHeaders = { "cache-control": "public, max-age=31536000, immutable" };
const endings: Readonly<Record<Coding, string>> = { br: ".br", gzip: ".gz" };

/**
 * Answers an address that is none, where a browser asks for a page: the console's page says so. False: it is not for a
 * page, and not answered.
 */
export type AnswerUnknown = (request: FastifyRequest, reply: FastifyReply) => boolean;

/**
 * Serves the console that the build left in a folder: the page at each of its paths, and its files. Where nothing was
 * built, there is no console, and `/` leads to the API's documentation. Each file is read once, when somebody first
 * asks, and all answers send the same bytes: what the console holds in memory ends with its files.
 */
export function consoleRoutes(app: FastifyInstance, options: ConsoleOptions): AnswerUnknown {
  const { folder, mapStyle } = options;
  const policy = { "content-security-policy": policyOf(options) };
  app.get("/console.json", { config, schema }, (_request, reply) => reply.headers(policy).send({ mapStyle }));
  if (!existsSync(join(folder, "pages.json"))) {
    // Who opens the service's address in a browser finds what it is.
    app.get("/", { config, schema }, (_request, reply) => reply.redirect("/docs"));
    return () => false;
  }
  const pages: readonly string[] = JSON.parse(readFileSync(join(folder, "pages.json"), "utf8"));
  const assets = new Set(readdirSync(join(folder, "assets")));
  const bytesOf = keptFiles(folder);

  async function send(name: string, has: (file: string) => boolean, request: FastifyRequest, reply: FastifyReply) {
    const coding = codingOf(request.headers["accept-encoding"]);
    const coded = coding === undefined ? undefined : name + endings[coding];
    reply.header("vary", "accept-encoding");
    if (coding === undefined || coded === undefined || !has(coded)) return reply.send(await bytesOf(name));
    return reply.header("content-encoding", coding).send(await bytesOf(coded));
  }

  const root = new Set(readdirSync(folder));
  const sendPage = (request: FastifyRequest, reply: FastifyReply) =>
    send("index.html", (file) => root.has(file), request, reply.headers({ ...pageHeaders, ...policy }));
  for (const url of pages) app.get(url, { config, schema }, sendPage);
  app.get<{ Params: { readonly file: string } }>("/assets/:file", { config, schema }, (request, reply) => {
    const { file } = request.params;
    const type = types[file.split(".").at(-1) ?? ""];
    if (type === undefined || !assets.has(file)) throw new ApiError("notFound");
    const has = (name: string) => assets.has(name.slice("assets/".length));
    return send(`assets/${file}`, has, request, reply.headers({ ...assetHeaders, ...policy, "content-type": type }));
  });
  return (request, reply) => {
    if (!asksForPage(request)) return false;
    sendPage(request, reply.code(404)).catch((error: unknown) => reply.send(error));
    return true;
  };
}

/** A path of the API, in all its spellings. */
const ofApi = /^\/+(?:a|%[46]1)(?:p|%[57]0)(?:i|%[46]9)(?:[/?#]|%2f|$)/i;

/** Whether a browser asks for a page, and not for a call of the API. */
function asksForPage({ method, headers, url }: FastifyRequest): boolean {
  const reads = method === "GET" || method === "HEAD";
  return reads && headers.accept?.includes("text/html") === true && !ofApi.test(url);
}

function keptFiles(folder: string): (name: string) => Promise<Buffer> {
  const files = new Map<string, Promise<Buffer>>();
  return (name) => {
    const kept = files.get(name) ?? readFile(join(folder, name));
    files.set(name, kept);
    // A file that can't be read now may be later.
    kept.catch(() => files.delete(name));
    return kept;
  };
}
