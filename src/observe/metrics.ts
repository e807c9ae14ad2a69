import { collectDefaultMetrics, Registry } from "prom-client";
import type { Counter, Histogram, Metrics } from "../ports/metrics.ts";
import { CounterFamily, type Family, HistogramFamily, ReadFamily } from "./metric-family.ts";

/** The metrics of the process, and their text for /metrics. */
export interface MetricsRegistry extends Metrics {
  /** Everything in the Prometheus text format 0.0.4; `contentType` says so. */
  text(): Promise<string>;
  readonly contentType: string;
}

function endsInTotal(name: string): void {
  if (!name.endsWith("_total")) throw new Error(`counter ${name} must end in _total`);
}

const namePattern = /^waybeam_[a-z][a-z0-9_]*$/;

/**
 * Our own families are plain additions on numbers, put into text only when they are asked for: prom-client's counters
 * hash their labels on each call, which costs too much per message. Its process metrics (CPU, memory, event loop lag,
 * open file descriptors) are used as they are.
 */
export function createMetrics(options: { readonly processMetrics: boolean }): MetricsRegistry {
  const process = new Registry();
  if (options.processMetrics) collectDefaultMetrics({ register: process });
  const families = new Map<string, Family>();
  const register = <F extends Family>(name: string, family: F): F => {
    if (!namePattern.test(name)) throw new Error(`metric name ${name} does not follow the conventions`);
    if (families.has(name)) throw new Error(`metric ${name} is registered already`);
    families.set(name, family);
    return family;
  };
  return {
    contentType: process.contentType,
    counter<L extends string>(
      name: string,
      help: string,
      labels: readonly L[],
    ): (values: Readonly<Record<L, string>>) => Counter {
      endsInTotal(name);
      const family = register(name, new CounterFamily(name, help, labels));
      return (values) => family.series(values);
    },
    histogram<L extends string>(
      name: string,
      help: string,
      labels: readonly L[],
      buckets: readonly number[],
    ): (values: Readonly<Record<L, string>>) => Histogram {
      const family = register(name, new HistogramFamily(name, help, labels, buckets));
      return (values) => family.series(values);
    },
    gauge(name, help, read) {
      register(name, new ReadFamily("gauge", name, help, read));
    },
    total(name, help, read) {
      endsInTotal(name);
      register(name, new ReadFamily("counter", name, help, read));
    },
    async text() {
      const own = [...families.values()].map((family) => family.text()).join("\n");
      return `${own}\n${await process.metrics()}`;
    },
  };
}
