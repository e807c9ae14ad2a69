import examples from "./answer-examples.json" with { type: "json" };

type Json = { readonly [name: string]: unknown };

const byCall: { readonly [operationId: string]: unknown } = examples;

/**
 * The document with an example of the answer to each call. test/integration/client-types.test.ts holds that the service
 * answers so.
 */
export function withExamples(document: Json): Json {
  const schemas: Json = Object(Object(document.components).schemas);
  return { ...document, paths: mapped(document.paths, (item) => mapped(item, (call) => withExample(call, schemas))) };
}

function withExample({ operationId, responses, ...operation }: Json, schemas: Json): Json {
  const example = byCall[String(operationId)];
  return {
    operationId,
    ...operation,
    responses: mapped(responses, ({ content, ...response }) => ({
      ...response,
      ...(content !== undefined && {
        content: mapped(content, ({ examples: _, ...media }) => ({
          ...media,
          example: example ?? ownExample(media, schemas),
        })),
      }),
    })),
  };
}

function mapped(value: unknown, change: (member: Json) => Json): Json {
  return Object.fromEntries(Object.entries(Object(value)).map(([name, one]) => [name, change(Object(one))]));
}

/** That of the schema: of a file. */
function ownExample({ schema }: Json, schemas: Json): unknown {
  const name = String(Object(schema).$ref).split("/").at(-1) ?? "";
  const { examples = [] }: { readonly examples?: readonly unknown[] } = Object(schemas[name]);
  return examples[0];
}
