import { shortened } from "./shorten.ts";

/** What a placeholder of an alert's own text stands for; the documentation lists them. */
export const placeholders = {
  DeviceName: "Name of the device.",
  DeviceId: "Identifier of the device.",
  AlertName: "Name of the rule.",
  AlertType: "Type of the rule, in the reader's language.",
  AlertText: "The service's own text: what happened, and how much.",
  AlertDate: "When it happened, in the reader's time zone.",
  Zone: "Name of the zone or route; empty where the rule has none.",
  Latitude: "Degrees, with six decimals; empty before the first position ever.",
  Longitude: "Degrees, with six decimals; empty before the first position ever.",
  Speed: "Speed at the alert, with its unit; empty where it isn't known.",
  Mileage: "Mileage at the alert, with its unit; empty where it isn't known.",
  MapLink:
    "Address of a map that shows where it happened; in notices by e-mail and SMS only, and empty before the first position ever.",
} as const;

/** The name of a placeholder. */
export type Placeholder = keyof typeof placeholders;

/** What the placeholders of a text stand for. */
export type TemplateValues = Readonly<Record<Placeholder, string>>;

/** Everything in double braces; blanks beside the name do not matter. */
const pattern = /\{\{([^{}]*)\}\}/g;

/** Characters (UTF-16 units) of a text that is filled in: twice the longest that a rule may have. A short one of many placeholders would grow to megabytes. */
export const longestFilled = 4000;

/**
 * Fills in a text in one pass: a value that looks like a placeholder stays what it is, and so does a placeholder that is unknown. What is longer than
 * `longestFilled` ends there with "...".
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
