const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Text as the content of an element or as an attribute's quoted value. Characters that HTML does not have (controls,
 * half surrogates) become U+FFFD.
 */
export function escapeHtml(text: string): string {
  return visible(text).replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");
}

/**
 * Text without characters that no document may have: controls other than tab and line feed, halves of surrogate pairs,
 * and what Unicode assigns to nobody.
 */
export function visible(text: string): string {
  return text
    .replaceAll(/\r\n?/g, "\n")
    .toWellFormed()
    .replaceAll(/[[\p{Cc}\p{Noncharacter_Code_Point}]--[\t\n]]/gv, "\ufffd");
}

/** Text on one line: every run of white space is one blank. */
export function oneLine(text: string): string {
  return visible(text).replaceAll(/\s+/g, " ").trim();
}
