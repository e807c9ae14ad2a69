import type { Identify } from "../../model/effects.ts";

/** The check digit that makes a number an IMEI (ISO/IEC 7812-1, Luhn). */
function checkDigit(digits: string): number {
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = digits.charCodeAt(digits.length - 1 - index) - 48;
    const value = index % 2 === 0 ? digit * 2 : digit;
    sum += value > 9 ? value - 9 : value;
  }
  return (10 - (sum % 10)) % 10;
}

/**
 * The phone number as digits. Trackers with six bytes and an IMEI of fifteen digits send its first fourteen as a binary
 * number; the last one is their check digit.
 */
export function identifierOf(phone: Uint8Array): string {
  const text = phone.toHex();
  if (!/[a-f]/.test(text) || phone.length !== 6) return text;
  const number = String(Number.parseInt(text, 16));
  return number + checkDigit(number);
}

/** Who a message is from: without leading zeros first, then as it was sent. */
export function identify(phone: Uint8Array): Identify {
  const id = identifierOf(phone);
  const stripped = id.replace(/^0+/, "");
  return { type: "identify", ids: stripped === id || stripped === "" ? [id] : [stripped, id] };
}

/** The bytes that carry an identifier; undefined: none can. */
export function phoneOf(id: string, length: number): Uint8Array | undefined {
  if (!/^\d{1,20}$/.test(id)) return undefined;
  if (id.length <= length * 2 && (length > 6 || id.length % 2 === 0))
    return Uint8Array.fromHex(id.padStart(length * 2, "0"));
  if (id.length > 15) return undefined;
  if (id.length < 12) return Uint8Array.fromHex(id.padStart(12, "0"));
  return Uint8Array.fromHex(Number(id.slice(0, -1)).toString(16).padStart(12, "0"));
}
