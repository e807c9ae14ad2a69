/** A phone number as gateways take it. */
export interface Phone {
  readonly digits: string;
  /** It was given with its country code: `+57...`. */
  readonly international: boolean;
}

/**
 * Reads a number with the usual spaces, dashes, dots and parentheses; undefined for what is none. SMPP allows 20
 * digits.
 */
export function readPhone(text: string): Phone | undefined {
  const match = /^(\+?)(\d{3,20})$/.exec(text.replaceAll(/[\s().-]/g, ""));
  return match === null ? undefined : { digits: match[2] ?? "", international: match[1] === "+" };
}
