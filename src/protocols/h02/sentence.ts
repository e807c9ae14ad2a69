import { latin1Of } from "../../wire/reader.ts";

/** A sentence `*XX,identifier,name,...#`, split once. */
export interface Sentence {
  readonly maker: string;
  /** Empty where the tracker leaves it out. */
  readonly id: string;
  readonly name: string;
  /** All fields, the maker's first. */
  readonly fields: readonly string[];
  /** Whether its end mark stands. Without it, the rest may have been lost. */
  readonly ended: boolean;
}

/** Index of the first field behind the sentence's name. */
export const bodyAt = 3;

const comma = 0x2c;
const hash = 0x23;

/** Offset behind the sentence's last character: before `#` and line ends, where they stand. */
function endOf(frame: Uint8Array): number {
  let end = frame.length;
  while (end > 0 && (frame[end - 1] ?? 0) <= 0x20) end--;
  return frame[end - 1] === hash ? end - 1 : end;
}

/** The sentence of a frame, with or without its end mark. Undefined: it has no maker of two letters. */
export function sentenceOf(frame: Uint8Array): Sentence | undefined {
  const end = endOf(frame);
  const fields = latin1Of(frame.subarray(1, end)).split(",");
  const [maker = "", id = "", name = ""] = fields;
  return /^[A-Za-z]{2}$/.test(maker) ? { maker, id, name, fields, ended: frame[end] === hash } : undefined;
}

/** The sentence's name alone, for the table of messages. */
export function nameOf(frame: Uint8Array): string | undefined {
  const end = endOf(frame);
  const second = frame.indexOf(comma, frame.indexOf(comma) + 1);
  if (frame[3] !== comma || second <= 3 || second >= end) return undefined;
  const third = frame.indexOf(comma, second + 1);
  return latin1Of(frame.subarray(second + 1, third < 0 ? end : Math.min(third, end)));
}
