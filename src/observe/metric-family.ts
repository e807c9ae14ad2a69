import type { Counter, Histogram } from "../ports/metrics.ts";

/** All series of one metric name, as Prometheus text. */
export interface Family {
  text(): string;
}

/** `{a="x",b="y"}`, or nothing where there are no labels. */
function labelText(labels: readonly string[], values: Readonly<Record<string, string>>): string {
  const parts = labels.map((label) => `${label}="${escapeValue(values[label] ?? "")}"`);
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
}

function escapeValue(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}

function header(name: string, help: string, type: string): string {
  return `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\n# TYPE ${name} ${type}\n`;
}

class PlainCounter implements Counter {
  value = 0;
  add(count: number): void {
    this.value += count;
  }
}

/** A counter by labels. A family without labels shows 0 from the start. */
export class CounterFamily implements Family {
  readonly #name: string;
  readonly #help: string;
  readonly #labels: readonly string[];
  readonly #series = new Map<string, PlainCounter>();

  constructor(name: string, help: string, labels: readonly string[]) {
    this.#name = name;
    this.#help = help;
    this.#labels = labels;
    if (labels.length === 0) this.series({});
  }

  series(values: Readonly<Record<string, string>>): PlainCounter {
    const key = labelText(this.#labels, values);
    let series = this.#series.get(key);
    if (series === undefined) {
      series = new PlainCounter();
      this.#series.set(key, series);
    }
    return series;
  }

  text(): string {
    let text = header(this.#name, this.#help, "counter");
    for (const [labels, series] of this.#series) text += `${this.#name}${labels} ${series.value}\n`;
    return text;
  }
}

class PlainHistogram implements Histogram {
  sum = 0;
  /** How many values fell into each bucket and no lower one; the last is what no bucket takes. */
  readonly counts: number[];
  readonly #bounds: readonly number[];

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    this.sum += value;
    let bucket = 0;
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] ?? 0)) bucket++;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
  }
}

/** A distribution by labels over fixed upper bounds, which ascend. */
export class HistogramFamily implements Family {
  readonly #name: string;
  readonly #help: string;
  readonly #labels: readonly string[];
  readonly #bounds: readonly number[];
  readonly #series = new Map<
    string,
    { readonly histogram: PlainHistogram; readonly values: Readonly<Record<string, string>> }
  >();

  constructor(name: string, help: string, labels: readonly string[], bounds: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#labels = labels;
    this.#bounds = bounds.toSorted((a, b) => a - b);
  }

  series(values: Readonly<Record<string, string>>): PlainHistogram {
    const key = labelText(this.#labels, values);
    const known = this.#series.get(key);
    if (known !== undefined) return known.histogram;
    const histogram = new PlainHistogram(this.#bounds);
    this.#series.set(key, { histogram, values: { ...values } });
    return histogram;
  }

  text(): string {
    let text = header(this.#name, this.#help, "histogram");
    for (const [labels, { histogram, values }] of this.#series) {
      let cumulative = 0;
      for (const [index, count] of histogram.counts.entries()) {
        cumulative += count;
        const le = String(this.#bounds[index] ?? "+Inf");
        text += `${this.#name}_bucket${labelText([...this.#labels, "le"], { ...values, le })} ${cumulative}\n`;
      }
      text += `${this.#name}_sum${labels} ${histogram.sum}\n${this.#name}_count${labels} ${cumulative}\n`;
    }
    return text;
  }
}

/** A number that is read when it is asked for. */
export class ReadFamily implements Family {
  readonly #type: "counter" | "gauge";
  readonly #name: string;
  readonly #help: string;
  readonly #read: () => number;

  constructor(type: "counter" | "gauge", name: string, help: string, read: () => number) {
    this.#type = type;
    this.#name = name;
    this.#help = help;
    this.#read = read;
  }

  text(): string {
    return `${header(this.#name, this.#help, this.#type)}${this.#name} ${this.#read()}\n`;
  }
}
