/** First letters of trouble codes: powertrain, chassis, body, network. */
const systems = "PCBU";

/**
 * A trouble code as people write it, `P0326`, of its two bytes: two bits of the letter, two of the first digit, three
 * digits of four bits. (SAE J2012)
 */
export function troubleCode(code: number): string {
  const rest = (code & 0x0fff).toString(16).toUpperCase().padStart(3, "0");
  return `${systems[(code >> 14) & 3]}${(code >> 12) & 3}${rest}`;
}
