const controls = /\p{Cc}|[\u202A-\u202E\u2066-\u2069]/gu;

/**
 * A text of people as it is shown: a control character has a symbol, since what can't be seen can't be told apart.
 * Lines stay. Signs that begin or end a direction have one too: they would turn what stands beside the text.
 */
export function shownText(text: string): string {
  return text.replaceAll(controls, (sign) => {
    const code = sign.codePointAt(0) ?? 0;
    if (sign === "\n" || sign === "\t") return sign;
    if (code < 0x20) return String.fromCodePoint(0x24_00 + code);
    return code === 0x7f ? "␡" : "�";
  });
}

/** A text of people inside of one of ours: it changes the direction of nothing around it (U+2068 to U+2069). */
export function isolated(text: string): string {
  return `\u2068${shownText(text)}\u2069`;
}

/** Letters of a name on a map: more would cover what lies around it. */
const mostLabel = 40;

/** A name as it stands on a map, in one line. */
export function labelOf(name: string): string {
  const letters = [...shownText(name.replaceAll(/\s+/g, " "))];
  return letters.length > mostLabel ? `${letters.slice(0, mostLabel).join("")}…` : letters.join("");
}
