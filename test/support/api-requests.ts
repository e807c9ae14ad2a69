import fc from "fast-check";
import { damaged, hostileTexts, type Schema, valuesOf } from "./schema-values.ts";

/** What the body of a call may be, with one example or several. */
interface Body {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

/** A call as the OpenAPI document describes it. */
export interface Operation {
  readonly operationId: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly example?: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: {
    readonly content: { readonly "application/json": Body };
  };
}

/** An operation with its method and path. */
export interface Call extends Operation {
  readonly method: string;
  readonly path: string;
}

/** Whose token a request has; of `person`, whose cookie; of `link`, that of a shared link. */
export type Caller = "owner" | "operator" | "person" | "link" | "plain" | "none";

/** One request. Its body is the text that is sent. */
export interface Request {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly caller: Caller;
  readonly body: string | undefined;
}

/** Parts of a path that are no id of anything, as they are written in a URL. */
const strangePaths = [
  ...["%00", "%", "%zz", "%ED%A0%80", "%2F", "a%2fb", "%C0%AF", "a;b", "a?b", "__proto__", "*", ":id"],
  ...hostileTexts.filter((text) => text.isWellFormed() && !["", " ", "..", "."].includes(text)).map(encodeURIComponent),
];
const strangeTypes = [
  ...["", "text/plain", "application/jsonx", "application/json; charset=utf-16", "application/JSON;charset=UTF-8"],
  ...["application/json, text/html", "multipart/form-data; boundary=x", "application/json;;", "x".repeat(3000)],
];
const strangeTokens = [
  "Bearer",
  "Bearer ",
  "bearer x.y.z",
  "Basic eDp5",
  `Bearer ${"x".repeat(5000)}`,
  "Bearer \u00ff",
];

/** Bodies that no schema describes. */
const strangeBodies = [
  ...[
    "",
    "{",
    "}",
    "null",
    "true",
    "[]",
    "{}",
    '""',
    "NaN",
    "-Infinity",
    "1e999",
    '{"id":NaN}',
    "{'id':1}",
    "\ufeff{}",
  ],
  ...['"\\ud800"', '{"name":"\\udc00"}', '{"name":"a\\u0000b"}', '{"\\u0000":1}', '{"from":1e999,"to":-1e999}'],
  ...['{"id":"a","id":"b"}', '{"name":"a","name":1,"name":"b"}', '[{"op":"test","op":"remove","path":"/name"}]'],
  ...['{"__proto__":{"admin":true}}', '{"constructor":{"prototype":{"x":1}}}', '{"tags":{"__proto__":"x"}}'],
  ...['[{"op":"add","path":"/__proto__/x","value":1}]', '[{"op":"move","from":"/tags","path":"/tags/a"}]'],
  ...['[{"op":"test","path":"/nothing","value":1}]', '[{"op":"copy","from":"","path":"/name"}]'],
  ...["[".repeat(100_000), `${"[".repeat(50_000)}${"]".repeat(50_000)}`, '{"a":'.repeat(20_000)],
  `{"tags":${'{"a":'.repeat(9000)}1${"}".repeat(9000)}}`,
];

/**
 * Requests of a call: mostly ones that its schema allows, and now and then strange ones. Path parameters are left as
 * `{name}`.
 */
export function requestsOf(call: Call): fc.Arbitrary<Request> {
  const names = (place: string) => (call.parameters ?? []).filter((parameter) => parameter.in === place);
  const segment = (name: string) =>
    fc.oneof(
      { weight: 6, arbitrary: fc.constant(`{${name}}`) },
      { weight: 1, arbitrary: fc.constantFrom(...strangePaths) },
    );
  const path = fc.record(Object.fromEntries(names("path").map(({ name }) => [name, segment(name)])));
  const texts = (place: string) => {
    const values = names(place).map(({ name, schema }) => [
      name,
      fc.oneof(valuesOf(schema), fc.constantFrom(...hostileTexts)),
    ]);
    return fc.record(Object.fromEntries(values) as Record<string, fc.Arbitrary<unknown>>, { requiredKeys: [] });
  };
  return fc
    .record({
      path,
      query: texts("query"),
      header: texts("header"),
      caller: callersOf(call),
      token: rarely(strangeTokens),
      type: rarely(strangeTypes),
      body: bodiesOf(call),
    })
    .map(({ path, query, header, caller, token, type, body }) => ({
      url: urlOf(call.path, path, query),
      headers: {
        ...Object.fromEntries(Object.entries(header).map(([name, value]) => [name, forHeader(value)])),
        ...(body === undefined && type === undefined ? {} : { "content-type": type ?? "application/json" }),
        ...(token === undefined ? {} : { authorization: token }),
      },
      caller,
      body,
    }));
}

function rarely(values: readonly string[]): fc.Arbitrary<string | undefined> {
  return fc.oneof(
    { weight: 20, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom(...values) },
  );
}

/** Who may make the call. */
function rightCaller({ security = [] }: Call): Caller {
  if (security.some((scheme) => "bearer" in scheme)) return "owner";
  if (security.some((scheme) => "link" in scheme)) return "link";
  return security.some((scheme) => "cookie" in scheme) ? "person" : "operator";
}

function callersOf(call: Call): fc.Arbitrary<Caller> {
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(rightCaller(call)) },
    { weight: 1, arbitrary: fc.constantFrom<Caller>("owner", "operator", "plain", "none") },
  );
}

function examplesOf({ requestBody }: Call): readonly unknown[] {
  const { example, examples = {} } = requestBody?.content["application/json"] ?? {};
  return example === undefined ? Object.values(examples).map(({ value }) => value) : [example];
}

/** The call as the document's first example has it. */
export function exampleOf(call: Call): Request {
  const [example] = examplesOf(call);
  const body = example === undefined ? undefined : JSON.stringify(example);
  const headers: Request["headers"] = body === undefined ? {} : { "content-type": "application/json" };
  const query = (call.parameters ?? []).filter((one) => one.in === "query" && one.required === true);
  const asked = query.map(({ name, example: value = "" }) => `${name}=${encodeURIComponent(value)}`).join("&");
  return { url: asked === "" ? call.path : `${call.path}?${asked}`, headers, caller: rightCaller(call), body };
}

function bodiesOf(call: Call): fc.Arbitrary<string | undefined> {
  const { requestBody } = call;
  const strange = fc.constantFrom<string | undefined>(undefined, ...strangeBodies);
  if (requestBody === undefined)
    return fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: strange });
  const examples = examplesOf(call);
  const made = valuesOf({ ...requestBody.content["application/json"].schema, examples });
  return fc.oneof(
    { weight: 6, arbitrary: damaged(made).map((value) => JSON.stringify(value)) },
    { weight: 2, arbitrary: strange },
  );
}

function urlOf(
  template: string,
  path: Readonly<Record<string, string>>,
  query: Readonly<Record<string, unknown>>,
): string {
  const url = template.replace(/\{(\w+)\}/g, (_, name: string) => path[name] ?? "");
  const search = Object.entries(query).map(
    ([name, value]) => `${name}=${encodeURIComponent(String(value).toWellFormed())}`,
  );
  return search.length === 0 ? url : `${url}?${search.join("&")}`;
}

/** What an HTTP client can put into a header at all. */
function forHeader(value: unknown): string {
  return String(value)
    .replaceAll(/[^\t\x20-\x7e\xa0-\xff]/g, "")
    .slice(0, 4000);
}
