/** A number that only grows. */
export interface Counter {
  add(count: number): void;
}

/** A distribution with fixed buckets. */
export interface Histogram {
  observe(value: number): void;
}

/**
 * Registration of what /metrics shows. Names are Prometheus names with the prefix `waybeam_`; a family is registered
 * once, its series are made on first use and kept, so hot paths hold the handle and pay one addition. Label values come
 * from closed sets only (protocol ids, causes, route patterns): never device ids or addresses.
 */
export interface Metrics {
  counter<L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
  ): (values: Readonly<Record<L, string>>) => Counter;
  histogram<L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
    buckets: readonly number[],
  ): (values: Readonly<Record<L, string>>) => Histogram;
  /** A value that is read when /metrics is asked. */
  gauge(name: string, help: string, read: () => number): void;
  /** A number that only grows, and is read when /metrics is asked. */
  total(name: string, help: string, read: () => number): void;
}
