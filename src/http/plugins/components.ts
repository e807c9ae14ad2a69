import { type ErrorName, errorKinds } from "../../errors/catalogue.ts";

/** Where a schema of the document keeps its name until it has become a component. */
export const nameMark = "x-name";

type Json = { readonly [name: string]: unknown };
type Kind = "schemas" | "responses" | "parameters";

/** Name of the schema that all failures share. */
const failureName = "Failure";

/**
 * The document with each body, answer, failure and parameter once, under `components`, and references where they stood:
 * the same failures would stand at all calls. A parameter bears its own name, and where two of that name differ, the
 * name of its schema, too. A failure bears the names that the catalogue has for its texts.
 */
export function withComponents(document: Json): Json {
  const components = new Components();
  const paths = mapValues(member(document, "paths"), (item) =>
    mapValues(item, (operation) => ({
      ...operation,
      ...("parameters" in operation && {
        parameters: [operation.parameters].flat().map((one) => components.parameter(one as Json)),
      }),
      ...("requestBody" in operation && { requestBody: components.withSchema(member(operation, "requestBody")) }),
      responses: mapValues(member(operation, "responses"), (response) => components.response(response)),
    })),
  );
  const { schemas, ...others } = member(document, "components") as Json & { schemas: Json };
  const { schemas: named, ...more } = components.all();
  return { ...document, components: { ...others, schemas: { ...schemas, ...named }, ...more }, paths };
}

class Components {
  readonly #kinds: Readonly<Record<Kind, Map<string, Json>>> = {
    schemas: new Map(),
    responses: new Map(),
    parameters: new Map(),
  };

  all(): Readonly<Record<Kind, Json>> {
    const { schemas, responses, parameters } = this.#kinds;
    return { schemas: sorted(schemas), responses: sorted(responses), parameters: sorted(parameters) };
  }

  parameter({ [nameMark]: _, ...parameter }: Json): Json {
    const { schema, ...plain } = parameter as Json & { schema: Json };
    const { [nameMark]: long, ...rest } = schema;
    const made = { ...plain, schema: rest };
    const short = pascal(String(plain.name));
    const present = this.#kinds.parameters.get(short);
    const free = present === undefined || JSON.stringify(present) === JSON.stringify(made);
    return this.#refer("parameters", free ? short : String(long), made);
  }

  response(response: Json): Json {
    const texts = textsOf(response);
    return texts === undefined ? this.withSchema(response) : this.#failure(response, texts);
  }

  /** A body or an answer whose schemas stand among the components, where they have a name. */
  withSchema(holder: Json): Json {
    if (!("content" in holder)) return holder;
    const content = mapValues(member(holder, "content"), (media) => {
      const { [nameMark]: name, ...schema } = member(media, "schema");
      return { ...media, schema: name === undefined ? schema : this.#refer("schemas", String(name), schema) };
    });
    return { ...holder, content };
  }

  #failure(response: Json, texts: readonly string[]): Json {
    const content = mapValues(member(response, "content"), (media) => {
      const schema = member(media, "schema");
      const properties = {
        ...member(schema, "properties"),
        error: { type: "string", description: "What went wrong." },
      };
      const failure = this.#refer("schemas", failureName, {
        ...schema,
        properties,
        description: "A call that failed.",
      });
      return {
        ...media,
        schema: { allOf: [failure, { properties: { error: { enum: texts } }, required: ["error"] }] },
      };
    });
    return this.#refer("responses", texts.map(errorNameOf).join("Or"), { ...response, content });
  }

  #refer(kind: Kind, name: string, value: Json): Json {
    const present = this.#kinds[kind].get(name);
    if (present !== undefined && JSON.stringify(present) !== JSON.stringify(value))
      throw new Error(`two different ${kind} of the document have the name ${name}`);
    this.#kinds[kind].set(name, value);
    return { $ref: `#/components/${kind}/${name}` };
  }
}

/** The texts of a failure. Undefined: the response is none. */
function textsOf(response: Json): readonly string[] | undefined {
  const schema = (response as { content?: { "application/json"?: { schema?: Json } } }).content?.["application/json"]
    ?.schema;
  const { success, error } = (schema?.properties ?? {}) as { success?: Json; error?: { enum?: readonly string[] } };
  return JSON.stringify(success?.enum) === "[false]" ? error?.enum : undefined;
}

const errorNames = new Map(
  Object.entries(errorKinds).map(([name, { text }]): [string, ErrorName] => [text, name as ErrorName]),
);

function errorNameOf(text: string): string {
  return pascal(errorNames.get(text) ?? "");
}

/** `deviceId` as `DeviceId`, `idempotency-key` as `IdempotencyKey`. */
export function pascal(name: string): string {
  return name.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function sorted(map: ReadonlyMap<string, Json>): Json {
  return Object.fromEntries([...map].toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

function member(value: Json, name: string): Json {
  const found = value[name];
  if (typeof found !== "object" || found === null) throw new Error(`the document has no ${name} where one is`);
  return found as Json;
}

function mapValues(value: Json, change: (member: Json) => Json): Json {
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, change(one as Json)]));
}
