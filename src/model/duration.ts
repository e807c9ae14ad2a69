const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Milliseconds of `90s`, `15m`, `2h`, `7d`, `1w` or several of them; undefined where it is no duration. */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d{1,9}(\.\d{1,3})?[smhdw])+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(/([\d.]+)([smhdw])/g)) sum += Number(amount) * (units[unit ?? ""] ?? 0);
  return sum;
}
