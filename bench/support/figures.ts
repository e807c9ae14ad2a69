/** One measured figure beside its limit. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** Undefined: the figure is there to be known. */
  readonly limit?: number;
  /** Whether the value must reach the limit or stay under it. */
  readonly bound?: "at least" | "under";
  /** What it was made of, for the reader. */
  readonly made: string;
}

/** Whether a figure keeps its limit, if it has one. */
export function kept({ value, limit, bound }: Figure): boolean {
  if (limit === undefined) return true;
  return bound === "at least" ? value >= limit : value < limit;
}

/** One line: the verdict, the figure, its limit, and what it was made of. */
export function line(figure: Figure): string {
  const { limit, bound, made } = figure;
  const value = figure.value >= 100 ? Math.round(figure.value).toLocaleString("en") : figure.value.toFixed(2);
  const unit = figure.unit === "" ? "" : ` ${figure.unit}`;
  const verdict = limit === undefined ? "    " : kept(figure) ? "ok  " : "MISS";
  const beside = limit === undefined ? "" : ` (${bound} ${limit.toLocaleString("en")}${unit})`;
  return `${verdict}  ${figure.name}: ${value}${unit}${beside}  ${made}`;
}

/** A rate for people. */
export function rate(value: number): string {
  return `${Math.round(value).toLocaleString("en")}/s`;
}
