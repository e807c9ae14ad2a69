/**
 * Network cells as an attribute: `mcc,mnc,area,cell` each, with the signal as the tracker gives it where it does, joined by `;`
 * (the order in which phone apps send them, so that one reader serves both).
 */
export function cellsText(cells: readonly (readonly (number | string)[])[]): string {
  return cells.map((cell) => cell.join(",")).join(";");
}

const hexPattern = /^[0-9a-f]{1,8}$/i;

/**
 * A cell of four fields: country, network, area, cell. Some makers write them in decimal, some in hexadecimal; no country's code is below
 * 200 or has letters, which tells them apart. Undefined: no cell (zeros, or something else).
 */
export function cellOf(fields: readonly string[], at: number): readonly number[] | undefined {
  const texts = fields.slice(at, at + 4).map((text) => text.trim());
  const country = texts[0] ?? "";
  if (texts.length < 4 || !texts.every((text) => hexPattern.test(text))) return undefined;
  const radix = country.length > 3 || Number(country) < 200 || texts.some((text) => /[a-f]/i.test(text)) ? 16 : 10;
  const cell = texts.map((text) => Number.parseInt(text, radix));
  const code = cell[0] ?? 0;
  return code >= 200 && code <= 799 ? cell : undefined;
}
