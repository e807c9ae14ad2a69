import { latin1Of } from "../../wire/reader.ts";

/** A message in its parts: `(013612345678BP05...)` or `(490154203237518,ZC11,...)`. */
export interface Sentence {
  readonly id: string;
  /** Two letters and two characters. */
  readonly code: string;
  /** Everything behind the code, without a comma before it. */
  readonly body: string;
  /** Whether a comma stands between identifier and code: the form of fields. */
  readonly fielded: boolean;
}

/** The parts of a frame with or without its brackets; undefined: no identifier and code. */
export function sentenceOf(frame: Uint8Array): Sentence | undefined {
  const from = frame[0] === 0x28 ? 1 : 0;
  const to = frame[frame.length - 1] === 0x29 ? frame.length - 1 : frame.length;
  let at = from;
  while (at < to && isDigit(frame[at] ?? 0)) at++;
  if (at - from < 6 || at - from > 20) return undefined;
  const text = latin1Of(frame.subarray(from, to));
  const idEnd = at - from;
  const fielded = text[idEnd] === ",";
  const codeAt = fielded ? idEnd + 1 : idEnd;
  const code = text.slice(codeAt, codeAt + 4);
  if (!/^[A-Z]{2}[0-9A-Z]{2}$/.test(code)) return undefined;
  const bodyAt = codeAt + (text[codeAt + 4] === "," ? 5 : 4);
  return { id: text.slice(0, idEnd), code, body: text.slice(bodyAt), fielded };
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}
