import { shortened } from "./shorten.ts";

/** What a placeholder of an alert's own text stands for; the documentation lists them. */
export const placeholders = {
  DeviceName: "Name of the device.",
  DeviceId: "Identifier of the device.",
  AlertName: "Name of the rule.",
  AlertType: "Type of the rule, in the reader's language.",
  AlertText: "The service's own text: what happened, and how much.",
  AlertDate: "When it happened, in the reader's time zone.",
  Zone: "Name of the zone or route; empty if the alert has none.",
  Latitude: "Degrees, with six decimals; empty before the first position ever.",
  Longitude: "Degrees, with six decimals; empty before the first position ever.",
  Speed: "Speed at the alert, with its unit; empty if it isn't known.",
  Mileage: "Mileage at the alert, with its unit; empty if it isn't known.",
  MapLink: "Address of a map that shows where it happened. Only notices have it; empty before the first position ever.",
} as const;

/** Further placeholders of a webhook's template. */
export const bodyPlaceholders = {
  Text: "What a mail says: the rule's own text, filled in, or the service's.",
  AlertId: "Identifier of the alert.",
  Phase: "`raised` or `over`.",
  Critical: "`true` or `false`.",
  Time: "When it happened, RFC 3339, UTC.",
} as const;

/** What the placeholders of a webhook's template stand for. */
export type BodyValues = TemplateValues & Readonly<Record<keyof typeof bodyPlaceholders, string>>;

/** The name of a placeholder. */
export type Placeholder = keyof typeof placeholders;

/** What the placeholders of a text stand for. */
export type TemplateValues = Readonly<Record<Placeholder, string>>;

/** Everything in double braces; blanks beside the name do not matter. */
const pattern = /\{\{([^{}]*)\}\}/g;

/**
 * Characters (UTF-16 units) of a text that is filled in: twice the longest that a rule may have. A short one of many
 * placeholders would grow to megabytes.
 */
export const longestFilled = 4000;

/**
 * Fills in a text in one pass: a value that looks like a placeholder stays what it is, and so does a placeholder that
 * is unknown. What is longer than `longestFilled` ends there with "...".
 */
export function fillTemplate(text: string, values: TemplateValues): string {
  let filled = "";
  let at = 0;
  for (const { 0: whole, 1: inside = "", index } of text.matchAll(pattern)) {
    const name = inside.trim();
    filled += text.slice(at, index) + (isPlaceholder(name) ? values[name] : whole);
    at = index + whole.length;
    if (filled.length > longestFilled) break;
  }
  filled += text.slice(at);
  // One more than fits says that it is too long; the rest need not be looked at.
  return shortened(filled.slice(0, longestFilled + 1), longestFilled);
}

/** Names in double braces that are no placeholders, each once, in their order. */
export function unknownPlaceholders(text: string): string[] {
  const names = [...text.matchAll(pattern)].map(([, inside = ""]) => inside.trim());
  return [...new Set(names)].filter((name) => !isPlaceholder(name));
}

function isPlaceholder(name: string): name is Placeholder {
  return Object.hasOwn(placeholders, name);
}

/** Characters of a body that a template makes. */
const longestBody = 32_000;

/**
 * Fills in a webhook's template in one pass, each value escaped so that it can't end its JSON string. Undefined: the
 * result is too long.
 */
export function fillBody(template: string, values: BodyValues): string | undefined {
  let filled = "";
  let at = 0;
  for (const { 0: whole, 1: inside = "", index } of template.matchAll(pattern)) {
    const name = inside.trim();
    const value = isBodyPlaceholder(name) ? JSON.stringify(values[name].toWellFormed()).slice(1, -1) : whole;
    filled += template.slice(at, index) + value;
    at = index + whole.length;
    if (filled.length > longestBody) return undefined;
  }
  filled += template.slice(at);
  return filled.length > longestBody ? undefined : filled;
}

/** A placeholder of the SMS gateway's settings. */
const ofGateway = /(?<!\{)\{(to|digits|text|hex|base64|secret)\}(?!\})/;

/** What is wrong with a webhook's template. */
export function problemsOfBody(template: string): readonly string[] {
  const names = [...template.matchAll(pattern)].map(([, inside = ""]) => inside.trim());
  const unknown = [...new Set(names)].filter((name) => !isBodyPlaceholder(name)).slice(0, 20);
  const problems = unknown.map((name) => `there is no placeholder {{${shortened(name, 40)}}}`);
  const [foreign] = ofGateway.exec(template) ?? [];
  if (foreign !== undefined)
    problems.push(`${foreign} is a placeholder of the SMS gateway; those of a webhook are in double braces`);
  if (problems.length > 0) return problems;
  try {
    // A placeholder outside a string would not give JSON once it is filled in.
    const parsed: unknown = JSON.parse(template.replaceAll(pattern, "x"));
    return typeof parsed === "object" && parsed !== null ? [] : ["must be a JSON object or list"];
  } catch {
    return ["must be JSON, with its placeholders inside strings"];
  }
}

function isBodyPlaceholder(name: string): name is keyof BodyValues {
  return isPlaceholder(name) || Object.hasOwn(bodyPlaceholders, name);
}
