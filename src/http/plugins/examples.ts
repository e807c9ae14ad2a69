import examples from "./answer-examples.json" with { type: "json" };

type Json = { readonly [name: string]: unknown };

const byCall: { readonly [operationId: string]: unknown } = examples;

/** The document with an example of the answer to each call. test/integration/client-types.test.ts holds that the service answers so. */
export function withExamples(document: Json): Json {
  return { ...document, paths: mapped(document.paths, (item) => mapped(item, withExample)) };
}

function withExample({ operationId, responses, ...operation }: Json): Json {
  const example = byCall[String(operationId)];
  return {
    operationId,
    ...operation,
    responses: mapped(responses, ({ content, ...response }) => ({
      ...response,
      ...(content !== undefined && {
        content: mapped(content, ({ examples: _, ...media }) => ({ ...media, example })),
      }),
    })),
  };
}

function mapped(value: unknown, change: (member: Json) => Json): Json {
  return Object.fromEntries(Object.entries(Object(value)).map(([name, one]) => [name, change(Object(one))]));
}
