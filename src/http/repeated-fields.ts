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
    else if (code === quote) index = endOfString(text, index + 1);
  }
  return count;
}

/** Where the string ends that begins here: at the first quote that no backslash escapes. The engine's own search is faster than a loop over characters. */
function endOfString(text: string, begin: number): number {
  for (let end = text.indexOf('"', begin); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (end - escapes > begin && text.charCodeAt(end - escapes - 1) === backslash) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}

/** Not recursive, for a body may be nested deeply; what is no object or array is not noted, for a body may hold half a million of them. */
function fieldsOf(value: unknown): number {
  let count = 0;
  const waiting: object[] = [];
  const note = (item: unknown) => {
    if (typeof item === "object" && item !== null) waiting.push(item);
  };
  note(value);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (Array.isArray(next)) {
      for (let index = 0; index < next.length; index++) note(next[index]);
      continue;
    }
    const items = Object.values(next);
    count += items.length;
    for (let index = 0; index < items.length; index++) note(items[index]);
  }
  return count;
}
