import type { TSchema } from "typebox";
import { operatorMay, type Permission } from "../auth/permission.ts";
import { failure } from "../contract/envelope.ts";
import { type ErrorKind, type ErrorName, errorKinds } from "../errors/catalogue.ts";

/** What a call takes: each with the schema that checks it. */
interface Input {
  readonly params?: TSchema;
  /** Header fields, in lower case. */
  readonly headers?: TSchema;
  readonly querystring?: TSchema;
  readonly body?: TSchema;
}

/** What one call of the API is: what it asks of its caller, what it takes, what it answers, how it can fail. */
export interface CallOptions<I extends Input, R> {
  /** Name of the call in the OpenAPI document and in clients made from it. */
  readonly operationId: string;
  readonly tag: "Authentication" | "Devices" | "Alerts" | "Groups" | "Users" | "Account" | "Operation";
  readonly summary: string;
  readonly description?: string;
  readonly permission: Permission;
  /**
   * It reads or sets one record, or all that a link shows, which may be large: those of an account are done one at a
   * time.
   */
  readonly record?: boolean;
  readonly input: I;
  /** The answers of success, by code. */
  readonly ok: R;
  /** How it can fail, beside what every call with its permission can. */
  readonly errors?: readonly ErrorName[];
  /** The failure that a bad body is; `badRequest` unless said. */
  readonly invalid?: ErrorName;
}

/**
 * The Fastify route options of a call: its schema (which validates, serialises and documents) and its declaration for
 * the gate.
 */
export function call<const I extends Input, const R>(options: CallOptions<I, R>) {
  const { operationId, tag, summary, description, permission, record = false, input, ok, invalid } = options;
  const response: R = { ...failuresOf(errorsOf(options)), ...ok };
  return {
    config: { permission, record, ...(invalid === undefined ? {} : { invalid }) },
    schema: {
      operationId,
      tags: [tag],
      summary,
      ...(description === undefined ? {} : { description }),
      security: securityOf(permission),
      ...input,
      response,
    },
  };
}

/** Who may ask, as the OpenAPI document names it. */
function securityOf(permission: Permission): { [scheme: string]: [] }[] {
  if (permission === "public") return [];
  if (permission === "anyone") return [{ cookie: [] }, {}];
  if (permission === "person") return [{ cookie: [] }];
  if (permission === "shared") return [{ link: [] }];
  const users = permission === "operator" ? [] : [{ bearer: [] as [] }, { cookie: [] as [] }];
  return operatorMay(permission) ? [...users, { operator: [] }] : users;
}

function errorsOf({ permission, input, errors = [], invalid }: CallOptions<Input, unknown>) {
  const all = new Set<ErrorName>([...errors, "badRequest", "requestTimeout", "internal", "unavailable"]);
  if (input.body !== undefined) all.add("unsupportedMediaType");
  if (invalid !== undefined) all.add(invalid);
  if (permission === "shared") return all.add("linkNotValid").add("tooManyRequests");
  if (permission !== "public")
    for (const name of ["userDisabled", "userExpired", "tooManyRequests"] as const) all.add(name);
  if (permission === "public" || permission === "anyone") return all;
  all.add("invalidToken");
  if (permission !== "see") all.add("permissionDenied");
  return all;
}

/** The schema of each code that these errors have, with the texts that it then can hold. */
function failuresOf(errors: ReadonlySet<ErrorName>): { [code: number]: TSchema } {
  const texts = new Map<ErrorKind["status"], Set<string>>();
  for (const name of errors) {
    const { status, text } = errorKinds[name];
    texts.set(status, (texts.get(status) ?? new Set()).add(text));
  }
  return Object.fromEntries([...texts].map(([status, list]) => [status, failure([...list].toSorted())]));
}
