import type { Reader } from "../../wire/reader.ts";

const gbk = new TextDecoder("gbk");

/** STRING of the standard: GBK, filled up or ended by zeros. */
export function gbkText(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return gbk.decode(end < 0 ? bytes : bytes.subarray(0, end)).trim();
}

/** The next bytes as text, without the zeros and spaces that fill it up. */
export function asciiText(reader: Reader, length: number): string {
  return reader.latin1(length).replaceAll("\0", " ").trim();
}

/** Digits of packed BCD without the `f` that fill it up; undefined where nothing is left but zeros. */
export function cardNumber(reader: Reader, bytes: number): string | undefined {
  const digits = reader.hex(bytes).replace(/f+$/, "");
  return /[1-9]/.test(digits) ? digits : undefined;
}
