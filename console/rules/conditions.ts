/** How a condition compares, as the service names it. */
export const operators = ["equal", "greater", "less", "inside", "outside"] as const;

/** What else must be true. The service says which fields go together. */
interface Condition {
  readonly operator: (typeof operators)[number];
  readonly attribute?: string;
  readonly value?: string | number | boolean;
  readonly zone?: string;
}

/** A condition as a form has it. */
export interface ConditionRow {
  operator: Condition["operator"];
  attribute: string;
  /** As it is typed. */
  value: string;
  /** Id of a zone. */
  zone: string;
  /** What was stored. A text that looks like a number stays a text as long as nobody changes it. */
  readonly stored: Condition["value"];
}

/** Whether a condition is of a zone, and not of an attribute. */
export function isOfZone(operator: Condition["operator"]): boolean {
  return operator === "inside" || operator === "outside";
}

/** The rows of a rule's conditions. */
export function conditionRows(conditions: readonly Condition[]): ConditionRow[] {
  return conditions.map(({ operator, attribute = "", value, zone = "" }) => ({
    ...{ operator, attribute, value: value === undefined ? "" : String(value), zone, stored: value },
  }));
}

/** The conditions of such rows. A row that names nothing is left out. */
export function conditionsOf(rows: readonly ConditionRow[]): Condition[] {
  return rows.flatMap(({ operator, attribute, value, zone, stored }): Condition[] => {
    if (isOfZone(operator)) return zone === "" ? [] : [{ operator, zone }];
    const name = attribute.trim();
    if (name === "") return [];
    const untouched = stored !== undefined && String(stored) === value;
    return [{ operator, attribute: name, value: untouched ? stored : meantBy(value) }];
  });
}

/** What a typed value means: a truth value, a number, or else a text. */
function meantBy(text: string): string | number | boolean {
  const trimmed = text.trim();
  if (trimmed === "true" || trimmed === "false") return trimmed === "true";
  return /^-?\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed;
}
