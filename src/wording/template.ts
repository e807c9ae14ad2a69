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

/** Fills in a text in one pass: a value that looks like a placeholder stays what it is, and so does a placeholder that is unknown. */
export function fillTemplate(text: string, values: TemplateValues): string {
  return text.replaceAll(pattern, (whole, inside: string) => {
    const name = inside.trim();
    return isPlaceholder(name) ? values[name] : whole;
  });
}

/** Names in double braces that are no placeholders, each once, in their order. */
export function unknownPlaceholders(text: string): string[] {
  const names = [...text.matchAll(pattern)].map(([, inside = ""]) => inside.trim());
  return [...new Set(names)].filter((name) => !isPlaceholder(name));
}

function isPlaceholder(name: string): name is Placeholder {
  return Object.hasOwn(placeholders, name);
}
