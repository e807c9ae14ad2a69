/** What the placeholders of a template stand for. */
export interface TemplateValues {
  /** Number as it was given, without spaces: `+573001234567`. */
  readonly to: string;
  /** The same without the plus sign. */
  readonly digits: string;
  readonly text: string;
  /** The bytes of the message (a text's in UTF-8), as upper-case hex. */
  readonly hex: string;
  readonly base64: string;
  readonly secret: string;
}

/** Puts a value into what surrounds it, so that it can't end its place. */
export type Encoder = (value: string) => string;

/** For a URL's path, query or user information, and for a form's body. */
export const encodeForUrl: Encoder = (value) =>
  encodeURIComponent(value.toWellFormed()).replaceAll(/[!'()*]/g, (character) => `%${hexOf(character)}`);

/** For the inside of a JSON string. */
export const encodeForJson: Encoder = (value) => JSON.stringify(value.toWellFormed()).slice(1, -1);

/** For a header, where the values are printable ASCII already. */
export const asItIs: Encoder = (value) => value;

/** Fills in a template in one pass: a value that looks like a placeholder stays what it is. */
export function fill(template: string, values: TemplateValues, encode: Encoder): string {
  return template.replaceAll(/\{(to|digits|text|hex|base64|secret)\}/g, (whole, name: string) =>
    isName(name, values) ? encode(values[name]) : whole,
  );
}

function isName(name: string, values: TemplateValues): name is keyof TemplateValues {
  return Object.hasOwn(values, name);
}

function hexOf(character: string): string {
  return character.charCodeAt(0).toString(16).toUpperCase();
}
