import { type AlertRule, type AlertRuleFields, zonesOf } from "../model/alert-rule.ts";
import { type LocationRecord, noTotals } from "../model/location.ts";
import { StoredObservation } from "../model/observation.ts";
import type { Standing } from "../model/standing.ts";
import type { WatchedDevice } from "../ports/alert-engine.ts";
import type { AlertTrial, TrialStep } from "../ports/alert-trial.ts";
import type { Clock } from "../ports/clock.ts";
import type { Histories } from "../ports/history.ts";
import type { Ids } from "../ports/ids.ts";
import type { NoticeRoom } from "./alert-writer.ts";
import { AccountRules, type RuleSources } from "./rule-book.ts";
import { StateTexts } from "./state-texts.ts";
import { DeviceWatch, type WatchTimers } from "./watch.ts";

/** A trial sends nothing. */
const unboundedRoom: NoticeRoom = {
  notices: Number.POSITIVE_INFINITY,
  critical: Number.POSITIVE_INFINITY,
  leftOut: () => {},
};

/** What trials are run with. */
export interface TrialDeps extends Pick<RuleSources, "geofences" | "accounts"> {
  readonly histories: Pick<Histories, "records" | "lastBefore">;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Tries rules over the history, with the same parts that watch the present. */
export class RuleTrial implements AlertTrial {
  readonly #deps: TrialDeps;

  constructor(deps: TrialDeps) {
    this.#deps = deps;
  }

  async *run(
    fields: AlertRuleFields,
    device: WatchedDevice,
    { from, to }: { readonly from: number; readonly to: number },
  ): AsyncIterable<TrialStep> {
    const { accounts, geofences, histories, clock } = this.#deps;
    const { accountKey } = device;
    const [account, own] = await Promise.all([
      accounts.find(accountKey),
      geofences.some(accountKey, [...new Set(zonesOf(fields))]),
    ]);
    const wording = { language: account?.language ?? "en", timeZone: account?.timeZone ?? "UTC" } as const;
    const rules = new AccountRules(wording, [triedRule(fields, device)], own, [], undefined);
    const run = new Run(rules, device, this.#deps.ids);
    const before = await histories.lastBefore(device.key, from - 1);
    if (before !== undefined) run.startAfter(before);
    let records = 0;
    for await (const piece of histories.records(device.key, { from, to })) {
      // Not `yield*`, which would wait for each record, also where nothing was found.
      for (const record of piece) for (const step of run.record(record)) yield step;
      records += piece.length;
      yield { type: "progress", records, time: piece.at(-1)?.time ?? from };
    }
    yield* run.end(Math.min(to, clock.now()));
  }
}

/** The rule as if it had always been there, for this device alone; nobody is told. */
function triedRule(fields: AlertRuleFields, { id, accountKey }: WatchedDevice): AlertRule {
  return {
    ...fields,
    enabled: true,
    devices: [id],
    groups: [],
    channels: { email: [], sms: [], webhook: [] },
    commands: [],
    notifyWhenOver: true,
    key: 0,
    id: "",
    accountKey,
    revision: 0,
    userKey: 0,
    creation: 0,
    modification: 0,
  };
}

/** One pass over a history. */
class Run {
  readonly #account: AccountRules;
  readonly #device: WatchedDevice;
  readonly #ids: Ids;
  readonly #texts = new StateTexts();
  readonly #timers: WatchTimers = {
    heardAt: () => this.#heardAt,
    silentUntil: () => 0,
    unchanged: () => {},
  };
  readonly #onOurClock: boolean;
  #standing: Standing = { time: 0, totals: noTotals };
  #heardAt = 0;

  constructor(account: AccountRules, device: WatchedDevice, ids: Ids) {
    this.#account = account;
    this.#device = device;
    this.#ids = ids;
    this.#onOurClock = account.rules.some(({ clock }) => clock === "arrival");
  }

  /** The record before the first one. */
  startAfter(record: LocationRecord): void {
    this.#move(record);
  }

  *record(record: LocationRecord): Iterable<TrialStep> {
    // What our own clock would have found before this one came.
    if (this.#onOurClock && record.receivedAt > this.#heardAt) yield* this.#look(record.receivedAt - 1);
    const watch = this.#watch(record.receivedAt);
    watch?.observe(new StoredObservation(record), record.totals);
    yield* this.#found(watch);
    this.#move(record);
  }

  /** What time alone would have found until then. */
  *end(now: number): Iterable<TrialStep> {
    if (now > this.#heardAt) yield* this.#look(now);
  }

  *#look(now: number): Iterable<TrialStep> {
    if (this.#heardAt === 0) return;
    const watch = this.#watch(now);
    watch?.tick();
    yield* this.#found(watch);
  }

  *#found(watch: DeviceWatch | undefined): Iterable<TrialStep> {
    const outcome = watch?.outcome();
    if (outcome === undefined) return;
    const { rules } = outcome;
    this.#standing = { ...this.#standing, ...(rules !== undefined && { rules }) };
    for (const alert of outcome.alerts) yield { type: "alert", alert };
  }

  #move(record: LocationRecord): void {
    this.#heardAt = Math.max(this.#heardAt, record.receivedAt);
    const { time, totals, receivedAt } = record;
    this.#standing = { ...this.#standing, time, totals, receivedAt };
  }

  #watch(now: number): DeviceWatch | undefined {
    const rules = this.#account.rulesOf(this.#device.id);
    if (rules.length === 0) return undefined;
    const { sight, wording } = this.#account;
    return new DeviceWatch({
      device: this.#device,
      standing: this.#standing,
      now,
      rules,
      sight,
      wording,
      ids: this.#ids,
      texts: this.#texts,
      room: () => unboundedRoom,
      timers: this.#timers,
    });
  }
}
