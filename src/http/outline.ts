const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const [openBracket, closeBracket] = [0x5b, 0x5d];
const [openBrace, closeBrace] = [0x7b, 0x7d];

/**
 * Counts the colons of a JSON text outside of its strings: one for each field. Returns undefined if arrays and objects
 * are nested deeper than `mostNested`. For text that is no JSON, the count means nothing.
 */
export function colonsOf(text: string, mostNested: number): number | undefined {
  let depth = 0;
  let colons = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === quote) {
      for (index++; text.charCodeAt(index) !== quote && index < text.length; index++)
        if (text.charCodeAt(index) === backslash) index++;
    } else if (code === colon) colons++;
    else if (code === openBracket || code === openBrace) {
      if (++depth > mostNested) return undefined;
    } else if (code === closeBracket || code === closeBrace) depth--;
  }
  return colons;
}
