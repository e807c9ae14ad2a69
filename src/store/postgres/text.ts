/*
 * PostgreSQL stores any character but U+0000. Trackers and peers may send it, so it is stored as a pair: the mark
 * (Unicode's noncharacter U+10FFFF) and a digit. The mark itself becomes a pair too, so that each text comes back as it
 * was, and equal texts stay equal.
 */

/** Begins a pair. */
export const mark = "\u{10ffff}";
/** After a mark: stands for U+0000. */
export const nul = "0";
/** After a mark: stands for the mark itself. */
const self = "1";

/** Encodes a text for PostgreSQL. */
export function storedText(text: string): string {
  if (!text.includes("\0") && !text.includes(mark)) return text;
  return text.replaceAll(mark, mark + self).replaceAll("\0", mark + nul);
}

/** Decodes a text that `storedText` encoded. */
export function textOf(stored: string): string {
  if (!stored.includes(mark)) return stored;
  return stored.replaceAll(mark + nul, "\0").replaceAll(mark + self, mark);
}
