/** The GSM 7-bit default alphabet (3GPP TS 23.038, 6.2.1), one septet each, without the escape. */
const basic = new Set(
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà",
);

/** Its extension (6.2.1.1), an escape and a septet each. */
const extension = new Set("\f^{}\\[~]|€");

/** Septets that a text needs; undefined: the alphabet does not have all of its characters. */
export function septetsOf(text: string): number | undefined {
  let septets = 0;
  for (const character of text) {
    if (basic.has(character)) septets += 1;
    else if (extension.has(character)) septets += 2;
    else return undefined;
  }
  return septets;
}

/** What stands for signs that have no accent to lose. */
const replacements: ReadonlyMap<string, string> = new Map([
  ["°", ""],
  ["·", "-"],
  ["–", "-"],
  ["—", "-"],
  ["‘", "'"],
  ["’", "'"],
  ["“", '"'],
  ["”", '"'],
  ["…", "..."],
  ["\u00a0", " "],
  ["\u202f", " "],
  ["\t", " "],
]);

/**
 * A text whose letters have lost the accents that the alphabet does not know: `límite` becomes `limite`. What it can't
 * replace stays.
 */
export function plainLetters(text: string): string {
  let plain = "";
  for (const character of text.normalize("NFC")) {
    if (septetsOf(character) !== undefined) plain += character;
    else plain += replacements.get(character) ?? withoutAccent(character);
  }
  return plain;
}

function withoutAccent(character: string): string {
  const bare = character.normalize("NFD").replaceAll(/\p{M}/gu, "");
  return bare !== "" && septetsOf(bare) !== undefined ? bare : character;
}

/**
 * Septets and UTF-16 units of a message of one part, and of each part of several, beside the header that joins them
 * (3GPP TS 23.040, 9.2.3.24).
 */
const room = { septets: { alone: 160, part: 153 }, units: { alone: 70, part: 67 } };

/** Whether a text fits an SMS of `parts` parts. */
export function fitsSms(text: string, parts: number): boolean {
  const septets = septetsOf(text);
  const [size, limits] = septets === undefined ? [text.length, room.units] : [septets, room.septets];
  // A part ends before a character that does not fit in whole, so each may lose one place.
  return parts === 1 ? size <= limits.alone : size <= parts * (limits.part - 1);
}
