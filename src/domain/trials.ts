import type { Counters } from "../contract/envelope.ts";
import { type TrialLine, TrialRequest } from "../contract/trial.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import type { Alert } from "../model/alert.ts";
import { type AlertRuleFields, worksWithout } from "../model/alert-rule.ts";
import type { Device } from "../model/device.ts";
import { fuelTablesOf } from "../model/fuel-table.ts";
import type { WatchedDevice } from "../ports/alert-engine.ts";
import type { AlertRuleNeeds } from "../ports/alert-rule-check.ts";
import type { AlertTrial, TrialStep } from "../ports/alert-trial.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import { StoreUnavailable } from "../ports/store.ts";
import type { RuleReferences } from "./alert-rule-references.ts";
import type { AlertRules } from "./alert-rules.ts";
import { alertView } from "./alerts.ts";
import { unknownTerms } from "./bodies.ts";
import type { Devices } from "./devices.ts";
import { momentsOf } from "./range.ts";
import type { ShownFrom } from "./shown-from.ts";
import { secondsToNextDay, type Tally } from "./tally.ts";

/**
 * The lines of a trial's answer. A reader that stops early must end the iteration, which ends the reading of the store
 * too.
 */
export type TrialLines = AsyncGenerator<TrialLine, void, void>;

/** Rules tried over the history of a device, within its daily results. */
export interface Trials {
  /**
   * A trial whose first piece of history has been read, so what fails at once fails here; what fails later is told by
   * its last line.
   * @throws ApiError `badRequest`, `deviceNotFound`, `alertRuleNotFound`, `invalidInput`, `dailyResults`
   */
  open(user: User, request: TrialRequest, counters: Counters): Promise<TrialLines>;
}

/** What trials need of the service. */
export interface TrialsContext {
  readonly alertTrial: AlertTrial;
  readonly devices: Pick<Devices, "find">;
  readonly rules: Pick<AlertRules, "stored" | "read">;
  readonly references: Pick<RuleReferences, "unknownZones" | "lostZones" | "untold">;
  readonly alertRuleNeeds: AlertRuleNeeds;
  readonly results: Tally;
  readonly shownFrom: ShownFrom;
  readonly clock: Clock;
  readonly log: Log;
  /** Records that can be read from each device in a UTC day. */
  readonly dailyResults: number;
}

/** What is asked. */
interface Wish {
  readonly device: Device;
  readonly from: number;
  readonly to: number;
  readonly counters: Counters;
  readonly warnings: readonly string[];
}

interface TriedFields {
  readonly fields: AlertRuleFields;
  readonly lost: readonly string[];
}

/** The trials over the engine's. */
export function createTrials(context: TrialsContext): Trials {
  return new CountedTrials(context);
}

class CountedTrials implements Trials {
  readonly #context: TrialsContext;

  constructor(context: TrialsContext) {
    this.#context = context;
  }

  async open(user: User, request: TrialRequest, { apiUsage, apiDailyUsage }: Counters): Promise<TrialLines> {
    const { devices, results, clock, dailyResults, alertTrial } = this.#context;
    const asked = momentsOf(request);
    const device = await devices.find(user, request.deviceId);
    const range = { ...asked, from: Math.max(asked.from, await this.#context.shownFrom(device)) };
    const { fields, lost } = await this.#fieldsOf(user, request, device.id);
    const now = clock.now();
    if ((await results.entry(device.key, now)).daily >= dailyResults)
      throw new ApiError("dailyResults", [], secondsToNextDay(now));
    const counters = { apiUsage, apiDailyUsage };
    const { alertRuleNeeds, references } = this.#context;
    const untold = await references.untold(user.accountKey, { ...fields, devices: [device.id], groups: [] });
    const needs = [...alertRuleNeeds(fields), ...untold].map((each) => `rule${each}`);
    const warnings = [...unknownTerms(request, TrialRequest.properties), ...lost, ...needs];
    const wish: Wish = { device, ...range, counters, warnings };
    const run = range.from <= range.to ? alertTrial.run(fields, watchedOf(device), range) : noSteps();
    const steps = run[Symbol.asyncIterator]();
    try {
      const found: Alert[] = [];
      let next = await steps.next();
      for (; next.done !== true && next.value.type === "alert"; next = await steps.next()) found.push(next.value.alert);
      if (next.done !== true && next.value.type === "progress") await this.#spend(device, next.value.records);
      return this.#lines(wish, steps, found, next);
    } catch (error) {
      await steps.return?.();
      throw error;
    }
  }

  /** The rule that is tried, and what of it is gone. */
  async #fieldsOf(user: User, { rule, ruleId }: TrialRequest, deviceId: string): Promise<TriedFields> {
    const { rules, references } = this.#context;
    if (ruleId !== undefined && rule === undefined) {
      const stored = await rules.stored(user, ruleId);
      const gone = await references.lostZones(user.accountKey, stored);
      const problems = await references.unknownZones(user.accountKey, stored, undefined);
      const lost = problems.map((problem) => `rule${problem}`);
      if (!worksWithout(stored, (id) => gone.has(id))) throw new ApiError("invalidInput", lost);
      return { fields: stored, lost };
    }
    if (rule === undefined || ruleId !== undefined)
      throw new ApiError("badRequest", ["body: must have either rule or ruleId"]);
    const { channels: _channels, commands: _commands, ...judged } = rule;
    return { fields: await rules.read(user, { ...judged, devices: [deviceId], groups: [] }, "body/rule"), lost: [] };
  }

  /** `first`: the first step that is no alert, which is counted already; `found`: the alerts before it. */
  async *#lines(
    wish: Wish,
    steps: AsyncIterator<TrialStep>,
    // Of a piece that the day's results do not cover nothing is told, so its alerts wait for its count.
    found: Alert[],
    first: IteratorResult<TrialStep, unknown>,
  ): TrialLines {
    let positions = 0;
    let alerts = 0;
    const told = () => {
      const lines = found.map((alert): TrialLine => ({ alert: alertView({ ...alert, channels: [] }) }));
      alerts += found.splice(0).length;
      return lines;
    };
    try {
      for (let next = first; next.done !== true; next = await steps.next()) {
        const step = next.value;
        if (step.type === "alert") found.push(step.alert);
        else {
          if (next !== first) await this.#spend(wish.device, step.records - positions);
          positions = step.records;
          yield* told();
          yield { progress: this.#progress(wish, step.time), positions };
        }
      }
      yield* told();
      const warned = wish.warnings.length > 0 && { warnings: [...wish.warnings] };
      yield { done: true, success: true, error: null, ...wish.counters, alerts, positions, ...warned };
    } catch (error) {
      yield { success: false, error: this.#failureOf(error).kind.text, ...wish.counters };
    } finally {
      await steps.return?.();
    }
  }

  async #spend(device: Device, count: number): Promise<void> {
    const { results, clock, dailyResults } = this.#context;
    const entry = await results.entry(device.key, clock.now());
    if (entry.daily + count > dailyResults) throw new ApiError("dailyResults", [], secondsToNextDay(clock.now()));
    results.add(entry, count);
  }

  #progress({ from, to }: Wish, time: number): number {
    const length = Math.min(to, this.#context.clock.now()) - from;
    return length <= 0 ? 1 : Math.min(1, Math.max(0, (time - from) / length));
  }

  #failureOf(error: unknown): ApiError {
    if (error instanceof ApiError) return error;
    if (error instanceof StoreUnavailable) return new ApiError("unavailable");
    this.#context.log.error({ error }, "a trial of a rule failed");
    return new ApiError("internal");
  }
}

/** A trial over a range of which nothing is kept. */
async function* noSteps(): AsyncGenerator<TrialStep, void, void> {}

function watchedOf({ key, accountKey, id, name, expires, odometerStart, tags }: Device): WatchedDevice {
  return { key, accountKey, id, name, expires, odometerStart, fuelTables: fuelTablesOf(tags) };
}
