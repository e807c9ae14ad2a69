import { type Field, fieldOf } from "./fields.ts";

/** The fields that AT$FORM adds to positions, in their order. */
export interface Form {
  /** As the tracker writes it: `%CI%SA%MV`. */
  readonly text: string;
  readonly fields: readonly Field[];
}

/** Most fields of a form. */
const mostFields = 100;

/** The form that a text says; the known one, where it is the same. Undefined: it is none. */
export function formOf(text: string, known: Form | undefined): Form | undefined {
  if (known?.text === text) return known;
  const [first, ...keys] = text.split("%", mostFields + 1);
  if (first !== "" || keys.length === 0 || !keys.every((key) => /^[A-Z][A-Z0-9]{1,4}$/.test(key))) return undefined;
  return { text, fields: keys.map(fieldOf) };
}
