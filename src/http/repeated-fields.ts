const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;

/**
 * Whether some object of a JSON text has the same field twice (RFC 8259, section 4: what readers make of it differs). Parsing keeps the last one, so the
 * text then has more colons outside of strings than the value has fields. `value` is what `text` was parsed to.
 */
export function hasRepeatedField(text: string, value: unknown): boolean {
  return colonsOutsideStrings(text) !== fieldsOf(value);
}

function colonsOutsideStrings(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === colon) count++;
    else if (code === quote) {
      for (index++; text.charCodeAt(index) !== quote && index < text.length; index++)
        if (text.charCodeAt(index) === backslash) index++;
    }
  }
  return count;
}

/** Not recursive, for a body may be nested deeper than the stack. */
function fieldsOf(value: unknown): number {
  let count = 0;
  const waiting: unknown[] = [value];
  for (let next = waiting.pop(); waiting.length > 0 || next !== undefined; next = waiting.pop()) {
    if (typeof next !== "object" || next === null) continue;
    if (!Array.isArray(next)) count += Object.keys(next).length;
    for (const item of Object.values(next)) waiting.push(item);
  }
  return count;
}
