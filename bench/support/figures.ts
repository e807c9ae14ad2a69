/** One measured figure beside its limit. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly limit: number;
  /** Whether the value must reach the limit or stay under it. */
  readonly bound: "at least" | "under";
  /** What it was made of, for the reader. */
  readonly made: string;
}

/** Whether a figure keeps its limit. */
export function kept(figure: Figure): boolean {
  return figure.bound === "at least" ? figure.value >= figure.limit : figure.value < figure.limit;
}

/** One line: the verdict, the figure, its limit, and what it was made of. */
export function line(figure: Figure): string {
  const value = figure.value >= 100 ? Math.round(figure.value).toLocaleString("en") : figure.value.toFixed(2);
  const limit = figure.limit.toLocaleString("en");
  const unit = figure.unit === "" ? "" : ` ${figure.unit}`;
  return `${kept(figure) ? "ok  " : "MISS"}  ${figure.name}: ${value}${unit} (${figure.bound} ${limit}${unit})  ${figure.made}`;
}

/** A rate for people. */
export function rate(value: number): string {
  return `${Math.round(value).toLocaleString("en")}/s`;
}
