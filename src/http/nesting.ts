const quote = 0x22;
const backslash = 0x5c;
const [openBracket, closeBracket] = [0x5b, 0x5d];
const [openBrace, closeBrace] = [0x7b, 0x7d];

/** Whether arrays and objects of a JSON text stand in each other deeper than that. Of text that is no JSON it says whatever its brackets look like. */
export function nestedDeeperThan(text: string, most: number): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === quote) {
      for (index++; text.charCodeAt(index) !== quote && index < text.length; index++)
        if (text.charCodeAt(index) === backslash) index++;
    } else if (code === openBracket || code === openBrace) {
      if (++depth > most) return true;
    } else if (code === closeBracket || code === closeBrace) depth--;
  }
  return false;
}
