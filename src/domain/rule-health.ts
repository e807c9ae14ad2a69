import type { AlertRuleStore } from "../ports/alert-store.ts";
import type { Bus } from "../ports/bus.ts";
import type { Log } from "../ports/log.ts";
import type { Metrics } from "../ports/metrics.ts";
import type { RuleReferences } from "./alert-rule-references.ts";

/** What the count needs of the service. */
export interface RuleHealthContext {
  readonly store: { readonly alertRules: Pick<AlertRuleStore, "list" | "accounts"> };
  readonly references: Pick<RuleReferences, "problems">;
  readonly bus: Bus;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * How often what changed is counted, ms: a gauge is read about as often, and an import of thousands of devices is one
 * change.
 */
const countMs = 30_000;

/** Counts for the metrics the rules that refer to something that is gone: what the API tells as a rule's `problems`. */
export class RuleHealth {
  readonly #context: RuleHealthContext;
  /** Rules with problems, by the key of their account. */
  readonly #counts = new Map<number, number>();
  readonly #changed = new Set<number>();
  #all = true;
  #timer: NodeJS.Timeout | undefined;
  #unsubscribe: (() => void) | undefined;
  #counting: Promise<void> = Promise.resolve();

  constructor(context: RuleHealthContext) {
    this.#context = context;
    context.metrics.gauge(
      "waybeam_alert_rules_with_problems",
      "Enabled alert rules that refer to a device, group, geofence or user that is gone, and can't do all that they should.",
      () => this.#counts.values().reduce((sum, count) => sum + count, 0),
    );
  }

  start(): void {
    this.#unsubscribe = this.#context.bus.subscribe((event) => {
      if ("accountKey" in event) this.#changed.add(event.accountKey);
    });
    this.#timer = setInterval(() => void this.count(), countMs).unref();
    void this.count();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#unsubscribe?.();
    await this.#counting;
  }

  /** Counts again what changed; resolves when it is counted. */
  count(): Promise<void> {
    this.#counting = this.#counting.then(() => this.#count());
    return this.#counting;
  }

  async #count(): Promise<void> {
    const { store, log } = this.#context;
    const all = this.#all;
    const changed = [...this.#changed];
    this.#all = false;
    this.#changed.clear();
    try {
      if (all) this.#counts.clear();
      for (const accountKey of all ? await store.alertRules.accounts() : changed) await this.#countAccount(accountKey);
    } catch (error) {
      // Whatever was not counted is counted the next time.
      this.#all = true;
      log.warn({ error }, "alert rules with problems could not be counted");
    }
  }

  async #countAccount(accountKey: number): Promise<void> {
    const { store, references } = this.#context;
    const rules = (await store.alertRules.list(accountKey)).filter(({ enabled }) => enabled);
    const problems = await references.problems(accountKey, rules);
    const count = problems.filter((list) => list.length > 0).length;
    if (count > 0) this.#counts.set(accountKey, count);
    else this.#counts.delete(accountKey);
  }
}
