import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/dist/2020.js";
import { eventsOf } from "./event-stream.ts";

/** An answer as it came, whatever sent the request. */
export interface Answered {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: string;
}

type Check = (method: string, url: string, answer: Answered) => void;
type Json = { readonly [name: string]: unknown };

const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Checks of documents by their text: a file that starts several services compiles their schemas once. */
const checks = new Map<string, Check>();

/**
 * A check of answers against an OpenAPI document: the call, the code and the media type must be in it, and the body
 * must be what it says; fields that it does not name are errors too. What no path of the document has must be a 404, a
 * 400 or an inactive user's 403 in the envelope.
 */
export function openApiCheck(document: object): Check {
  const text = JSON.stringify(document);
  const check = checks.get(text) ?? checkOf(JSON.parse(text));
  checks.set(text, check);
  return check;
}

function checkOf(document: object): Check {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addFormat("date-time", dateTime);
  const closed = JSON.parse(JSON.stringify(inlined(document)), (_key, value: unknown) => close(value)) as Json;
  ajv.addSchema({ $id: "api", ...closed });
  // Of two templates that match, the one with fewer parameters is meant (OpenAPI 3.1, "Path Templating Matching").
  const parameters = (template: string) => template.split("{").length;
  const paths = Object.keys(at(closed, "paths")).toSorted((left, right) => parameters(left) - parameters(right));
  const patterns = paths.map((template) => ({ template, pattern: patternOf(template) }));
  return (method, url, answer) => {
    const [called = ""] = url.split("?");
    const path = patterns.find(({ pattern }) => pattern.test(called))?.template;
    const operation =
      path === undefined ? undefined : at(at(closed, "paths"), path)[method === "HEAD" ? "get" : method.toLowerCase()];
    if (path === undefined || !isJson(operation)) return checkUnknown(method, url, answer);
    const response = at(operation, "responses")[String(answer.status)];
    assert.ok(isJson(response), `${method} ${path} answered ${answer.status}, which its document does not have`);
    if (method === "HEAD") return;
    const types = Object.keys(at(response, "content"));
    const media = answer.contentType?.split(";")[0] ?? "none";
    assert.ok(types.includes(media), `${method} ${path}: media type ${media}`);
    const bodies = bodiesOf(media, answer.body);
    if (bodies.length === 0) return;
    const place = ["paths", path, method.toLowerCase(), "responses", String(answer.status), "content", media, "schema"];
    const validate = ajv.getSchema(`api#/${place.map(escaped).join("/")}`);
    assert.ok(validate, place.join(" "));
    for (const body of bodies)
      assert.ok(
        validate(body),
        `${method} ${path} ${answer.status}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(body).slice(0, 500)}`,
      );
  };
}

/** What an answer holds that a schema describes. */
function bodiesOf(media: string, body: string): readonly unknown[] {
  if (media === "application/json") return [JSON.parse(body)];
  if (media === "application/x-ndjson")
    return body
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  return media === "text/event-stream" ? eventsOf(body) : [];
}

/**
 * The document with the parameters, the answers, and the schemas of bodies and answers where they are used, in place of
 * references to them.
 */
export function inlined<T extends object>(document: T): T {
  const found = (value: unknown): unknown => {
    const { $ref } = Object(value) as { readonly $ref?: string };
    if ($ref === undefined) return value;
    const parts = $ref.split("/").slice(1);
    return parts.reduce<unknown>((holder, name) => Object(holder)[name], document);
  };
  const withSchemas = (holder: unknown) => {
    const { content = {}, ...rest } = Object(found(holder));
    const media = Object.entries(Object(content)).map(([type, one]) => [
      type,
      { ...Object(one), schema: found(Object(one).schema) },
    ]);
    return { ...rest, content: Object.fromEntries(media) };
  };
  const mapped = (value: unknown, change: (one: Record<string, unknown>) => unknown) =>
    Object.fromEntries(Object.entries(Object(value)).map(([name, one]) => [name, change(Object(one))]));
  const paths = mapped(Object(document).paths, (item) =>
    mapped(item, ({ parameters, requestBody, responses, ...rest }) => ({
      ...rest,
      ...(parameters === undefined ? {} : { parameters: [parameters].flat().map(found) }),
      ...(requestBody === undefined ? {} : { requestBody: withSchemas(requestBody) }),
      responses: mapped(responses, withSchemas),
    })),
  );
  return { ...document, paths };
}

function checkUnknown(method: string, url: string, { status, contentType, body }: Answered): void {
  const texts = new Map([
    [404, ["Not Found"]],
    [400, ["Bad Request"]],
    [403, ["user disabled", "user expired"]],
  ]);
  assert.ok(texts.has(status), `${method} ${url} is not in the document and answered ${status}`);
  assert.match(contentType ?? "", /^application\/json/);
  if (method === "HEAD") return;
  const answer: unknown = JSON.parse(body);
  assert.ok(isJson(answer) && answer.success === false, body);
  assert.ok(texts.get(status)?.includes(String(answer.error)), body);
}

/** An object schema that names its fields has no others. */
function close(value: unknown): unknown {
  if (isJson(value) && value.type === "object" && isJson(value.properties) && value.additionalProperties === undefined)
    return { ...value, additionalProperties: false };
  return value;
}

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function at(value: Json, name: string): Json {
  const member = value[name];
  assert.ok(isJson(member), `the document has no ${name}`);
  return member;
}

function patternOf(template: string): RegExp {
  return new RegExp(`^${template.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{\w+\}/g, "[^/]+")}/?$`, "i");
}

function escaped(token: string): string {
  return encodeURIComponent(token.replaceAll("~", "~0").replaceAll("/", "~1"));
}
