/*
 * PostgreSQL keeps any text but U+0000. What trackers and peers send may hold it, so it is stored as a pair: a character that is none (Unicode's noncharacter
 * U+10FFFF) and a digit. That character itself becomes a pair too, so that each text comes back as it was, and equal texts stay equal.
 */

/** Begins a pair. */
export const mark = "\u{10ffff}";
/** Follows the mark in place of U+0000. */
export const nul = "0";
/** Follows the mark in place of the mark. */
const self = "1";

/** A text as PostgreSQL keeps it. */
export function storedText(text: string): string {
  if (!text.includes("\0") && !text.includes(mark)) return text;
  return text.replaceAll(mark, mark + self).replaceAll("\0", mark + nul);
}

/** The text again. */
export function textOf(stored: string): string {
  if (!stored.includes(mark)) return stored;
  return stored.replaceAll(mark + nul, "\0").replaceAll(mark + self, mark);
}
