/** A failure that the service answered, or that kept its answer away. */
export class Problem extends Error {
  /** HTTP status; 0: no answer came. */
  readonly status: number;
  /** What is wrong, and where, as the service says it. */
  readonly details: readonly string[];
  /** The request's id, by which the service's log knows it. */
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, status: number, details: readonly string[] = [], headers?: Headers) {
    super(message);
    this.status = status;
    this.details = details;
    this.requestId = headers?.get("x-request-id") ?? undefined;
    const after = Number(headers?.get("retry-after") ?? Number.NaN);
    this.retryAfterSeconds = Number.isFinite(after) ? after : undefined;
  }
}

/** Whatever was thrown, as a problem. */
export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  return new Problem(thrown instanceof Error ? thrown.message : String(thrown), 0);
}

/** The problem that a failure's body tells. */
export function problemOfAnswer(body: unknown, response: Response): Problem {
  const { error, details } = Object(body) as { readonly error?: unknown; readonly details?: unknown };
  const text = typeof error === "string" ? error : `${response.status} ${response.statusText}`.trim();
  const list = Array.isArray(details) ? details.filter((entry): entry is string => typeof entry === "string") : [];
  return new Problem(text, response.status, list, response.headers);
}

/**
 * The details by the field that they name: the service writes `body/name: why`, or `/name why`. What names no field of
 * the form stands under "".
 */
export function byField(details: readonly string[], fields: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const detail of details) {
    const named = /^(?:body)?\/([\w~]+)/.exec(detail)?.[1] ?? /^(\w+)\b/.exec(detail)?.[1] ?? "";
    const field = fields.includes(named) ? named : "";
    found.set(field, [...(found.get(field) ?? []), detail]);
  }
  return found;
}
