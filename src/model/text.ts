/** Stands for what is no character: half of a surrogate pair, or a control character. */
const replacement = "\ufffd";

/**
 * Control characters of ASCII and of ISO 8859-1, but for the tab and the ends of lines, which a tracker's answer may
 * hold.
 */
function isControl(code: number): boolean {
  if (code < 0x20) return code !== 0x09 && code !== 0x0a && code !== 0x0d;
  return code >= 0x7f && code < 0xa0;
}

/** Whether each character stands for itself in JSON, in every database and on every terminal. */
export function isSoundText(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (isControl(code)) return false;
    // The first half of a pair or a lone half: the whole text is looked at once.
    if (code >= 0xd800 && code < 0xe000) return text.isWellFormed() && !hasControl(text, index);
  }
  return true;
}

function hasControl(text: string, from: number): boolean {
  for (let index = from; index < text.length; index++) if (isControl(text.charCodeAt(index))) return true;
  return false;
}

/**
 * A text from outside as it may be stored and shown. Control characters and lone surrogates become U+FFFD, so that a
 * reader sees that something stood there; U+0000 at the end, with which devices fill up their fields, is left out.
 */
export function soundText(text: string): string {
  if (isSoundText(text)) return text;
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 0) end--;
  let sound = "";
  for (const character of text.slice(0, end).toWellFormed())
    sound += isControl(character.charCodeAt(0)) ? replacement : character;
  return sound;
}
