import { type Cell, cellsText } from "../../wire/radio.ts";

/** The attribute of these cells; none where there are none. */
export function cellsOf(cells: readonly Cell[]): { readonly cells?: string } {
  const text = cellsText(cells);
  return text === undefined ? {} : { cells: text };
}

const hexPattern = /^[0-9a-f]{1,8}$/i;

/**
 * A cell of four fields: country, network, area, cell. Some makers write them in decimal, some in hexadecimal; no
 * country's code is below 200 or has letters, which tells them apart. Undefined: no cell (zeros, or something else).
 */
export function cellOf(fields: readonly string[], at: number): Cell | undefined {
  const texts = fields.slice(at, at + 4).map((text) => text.trim());
  const country = texts[0] ?? "";
  if (texts.length < 4 || !texts.every((text) => hexPattern.test(text))) return undefined;
  const radix = country.length > 3 || Number(country) < 200 || texts.some((text) => /[a-f]/i.test(text)) ? 16 : 10;
  const [mcc = 0, mnc, lac, cellId] = texts.map((text) => Number.parseInt(text, radix));
  return mcc >= 200 && mcc <= 799 ? { mcc, mnc, lac, cellId } : undefined;
}
