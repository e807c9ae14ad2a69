import { generatedMark, markdownTable } from "./generator.ts";

/** A JSON Schema of the document, as far as the summary tells of it. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}
interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly schema: Schema;
}
interface Holder {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly $ref: string }[];
  readonly requestBody?: Holder;
  readonly responses: Readonly<Record<string, Holder>>;
}
interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
}

/** The page of all calls, and of the fields of all schemas. */
export function summaryOf(document: object): string {
  const { paths, components } = document as OpenApiDocument;
  const calls = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => callLine(method, path, operation)),
  );
  const parameters = Object.entries(components.parameters).map(([name, { in: place, name: written, schema }]) => [
    name,
    `${place} \`${written}\``,
    typeOf(schema),
  ]);
  const schemas = Object.entries(components.schemas)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, schema]) => [name, typeOf(schema)]);
  return `${generatedMark}

# Calls of the API

A summary of what a running service gives at \`/openapi.json\`. Failures that nearly every call has are left out: [errors](errors.md) lists all.

${markdownTable(["call", "name", "takes", "answers", "fails with"], calls)}

## Parameters

${markdownTable(["name", "place", "type"], parameters)}

## Schemas

\`?\`: may be left out.

${markdownTable(["name", "type"], schemas)}
`;
}

/** Failures of nearly every call: they would hide what a call has of its own. */
const usual: ReadonlySet<string> = new Set([
  ...["BadRequest", "InvalidToken", "UserDisabledOrUserExpired", "RequestTimeout"],
  ...["UnsupportedMediaType", "TooManyRequests", "Internal", "Unavailable"],
]);

function callLine(method: string, path: string, { operationId, parameters = [], requestBody, responses }: Operation) {
  const takes = [...parameters.map(({ $ref }) => last($ref)), ...contents(requestBody)];
  const answers = Object.entries(responses).flatMap(([code, response]) =>
    response.$ref === undefined ? [[code, ...contents(response)].join(" ")] : [],
  );
  const failures = Object.entries(responses).flatMap(([code, { $ref }]) =>
    $ref === undefined || usual.has(last($ref)) ? [] : [`${code} ${last($ref)}`],
  );
  return [
    `\`${method.toUpperCase()} ${path}\``,
    operationId,
    takes.join(", "),
    answers.join(", "),
    failures.join(", "),
  ];
}

function contents(holder: Holder | undefined): readonly string[] {
  return Object.values(holder?.content ?? {}).map(({ schema }) => typeOf(schema));
}

/** A schema as one would write its type; what it refers to by its name. */
function typeOf(schema: Schema): string {
  const { $ref, const: constant, enum: values, anyOf, oneOf, allOf, items, type, format } = schema;
  if ($ref !== undefined) return last($ref);
  if (constant !== undefined) return JSON.stringify(constant);
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(" | ");
  if (anyOf !== undefined || oneOf !== undefined) return unique((anyOf ?? oneOf ?? []).map(typeOf)).join(" | ");
  if (allOf !== undefined) return allOf.map(typeOf).join(" & ");
  const types = [type ?? "any"].flat().map((one) => {
    if (one === "array") return `[${items === undefined ? "any" : typeOf(items)}]`;
    if (one === "object") return fieldsOf(schema);
    return one === "string" && format !== undefined ? format : one;
  });
  return types.join(" | ");
}

function fieldsOf({ properties = {}, required = [], additionalProperties }: Schema): string {
  const fields = Object.entries(properties).map(
    ([name, field]) => `${name}${required.includes(name) ? "" : "?"}: ${typeOf(field)}`,
  );
  if (typeof additionalProperties === "object") fields.push(`*: ${typeOf(additionalProperties)}`);
  return `{ ${fields.join("; ")} }`;
}

function last(reference: string): string {
  return reference.split("/").at(-1) ?? "";
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}
