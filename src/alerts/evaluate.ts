import type { AlertFacts } from "../model/alert.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import { conditionBits } from "./conditions.ts";
import { factsFrom } from "./facts.ts";
import { minutesOf } from "./families/check.ts";
import { anew, type EventJudge, type LevelJudge, nothing, pulse, type Seen, yes } from "./judge.ts";
import {
  type Course,
  courseAfter,
  drop,
  end,
  flash,
  holding,
  idle,
  is,
  isNot,
  moveOf,
  raise,
  raised,
  readyAt,
  stay,
  wasBetween,
} from "./machine.ts";
import { initialState, type RuleState } from "./rule-state.ts";

/** Takes what the rules find. */
export interface Finder {
  raised(rule: CompiledRule, seen: Seen, time: number, facts: AlertFacts): void;
  over(rule: CompiledRule, seen: Seen, time: number, facts: AlertFacts): void;
}

/**
 * So many things can become true by time alone before one fix; a device that was silent for months with a daily
 * schedule is not told of each day.
 */
const mostMoments = 64;

/**
 * The state after an observation, or after the moment that is looked at where there is none. The same object: nothing
 * changed.
 */
export function judgeRule(rule: CompiledRule, state: RuleState, seen: Seen, finder: Finder): RuleState {
  const time = rule.clock === "arrival" && seen.observation !== undefined ? seen.now : seen.time;
  const conditions = rule.conditions.length === 0 ? 0 : conditionBits(rule.conditions, state.conditions, seen);
  const inForce = rule.schedule === undefined || rule.schedule.inForce(time);
  seen.memory = state.memory;
  seen.held = state.level;
  seen.raised = state.phase === raised;
  const holds = inForce && conditions === rule.allConditions;
  const { judge } = rule;
  if (judge.kind === "events") return happen(rule, judge, state, { conditions, holds, time }, seen, finder);
  const judgement = judge.judge(seen);
  const level = judgement === nothing ? state.level : judgement === yes || judgement === anew;
  const truth = !holds ? isNot : judgement === pulse ? wasBetween : level ? is : isNot;
  // What begins again is told again, once it has held and the cooldown is over.
  const from: Course = judgement === anew && holds && state.phase === raised ? { ...state, phase: idle } : state;
  const move = moveOf(from, truth, time, rule.calm);
  if (move === stay && level === state.level && conditions === state.conditions && seen.memory === state.memory)
    return state;
  const { phase, since, firedAt } = courseAfter(state, move, time);
  const { facts } = state;
  const { memory } = seen;
  const next: RuleState = { phase, since, firedAt, level, conditions, memory, facts };
  switch (move) {
    case raise:
      return begin(rule, judge, next, time, seen, finder);
    case flash:
      return finish(rule, judge, begin(rule, judge, next, time, seen, finder), time, time, seen, finder);
    case drop:
    case end:
      // What had begun again and did not hold ends what stood before.
      if (state.facts === undefined) return next;
      // It is not over where the rule is not in force any longer: it is not watched.
      if (!inForce) return { ...next, facts: undefined };
      return finish(rule, judge, next, move === end ? state.since : state.firedAt, time, seen, finder);
    default:
      return next;
  }
}

/** What holds at an observation beside what the judge says. */
interface Circumstances extends Pick<RuleState, "conditions"> {
  /** The rule is in force, and all of its conditions are true. */
  readonly holds: boolean;
  readonly time: number;
}

function happen(
  rule: CompiledRule,
  judge: EventJudge<object>,
  state: RuleState,
  { conditions, holds, time }: Circumstances,
  seen: Seen,
  finder: Finder,
): RuleState {
  const events = judge.judge(seen);
  let next = state;
  if (conditions !== state.conditions || seen.memory !== state.memory)
    next = { ...state, conditions, memory: seen.memory };
  if (events.length === 0 || !holds) return next;
  // What one fix shows (entered and left) is one: the cooldown is between fixes.
  if (moveOf(state, wasBetween, time, rule.calm) !== flash) return next;
  next = { ...next, ...courseAfter(next, flash, time) };
  for (const event of events) finder.raised(rule, seen, time, factsFrom(event));
  return next;
}

function begin(
  rule: CompiledRule,
  judge: LevelJudge<object>,
  state: RuleState,
  time: number,
  seen: Seen,
  finder: Finder,
): RuleState {
  const facts = factsFrom(judge.facts(seen));
  finder.raised(rule, seen, time, facts);
  return { ...state, facts };
}

function finish(
  rule: CompiledRule,
  judge: LevelJudge<object>,
  state: RuleState,
  since: number,
  time: number,
  seen: Seen,
  finder: Finder,
): RuleState {
  const { value, ended } = factsFrom(judge.facts(seen));
  const facts = {
    ...state.facts,
    ...(value !== undefined && { value }),
    ...(ended !== undefined && { ended }),
    ...(state.level && conditionEnded(rule, state.conditions)),
    lastedMinutes: minutesOf(time - since),
  };
  finder.over(rule, seen, time, facts);
  return { ...state, facts: undefined };
}

/** The first condition that is not true any longer; undefined: all are. */
function conditionEnded({ conditionFacts }: CompiledRule, bits: number): AlertFacts | undefined {
  return conditionFacts.find((_, at) => (bits & (1 << at)) === 0);
}

/**
 * Lets time go on without a report until a moment (`including` it, or up to it): what becomes true by itself is found
 * at the very moment at which it does, so it makes no difference when, how often, or whether at all it was looked
 * meanwhile.
 */
export function advanceRule(
  rule: CompiledRule,
  before: RuleState,
  seen: Seen,
  until: number,
  including: boolean,
  finder: Finder,
): RuleState {
  const { observation, placed, totals, time } = seen;
  seen.observation = undefined;
  seen.placed = false;
  seen.totals = seen.previous;
  let state = before;
  for (let count = 0; count < mostMoments; count++) {
    const moment = nextMoment(rule, state, seen);
    if (!(moment < until || (including && moment === until))) break;
    seen.time = moment;
    const next = judgeRule(rule, state, seen, finder);
    if (next === state) break;
    seen.changedAt = Math.max(seen.changedAt, moment);
    state = next;
  }
  seen.observation = observation;
  seen.placed = placed;
  seen.totals = totals;
  seen.time = time;
  return state;
}

/**
 * The next moment at which time alone may change a rule's state, on the clock of its type; Infinity: none. `seen` holds
 * the last totals and when they were. A rule finds nothing before it was made.
 */
export function nextMoment(rule: CompiledRule, state: RuleState, seen: Seen): number {
  const { judge, schedule } = rule;
  const from = Math.max(rule.clock === "arrival" ? 0 : seen.previousTime, state.since);
  if (judge.due !== undefined && (judge.kind === "events" || !state.level)) {
    seen.memory = state.memory;
    return Math.max(judge.due(seen), from, rule.rule.modification);
  }
  if (judge.kind === "events" || !state.level || state.conditions !== rule.allConditions)
    return Number.POSITIVE_INFINITY;
  const ready = state.phase === holding ? readyAt(state.since, state.firedAt, rule.calm) : Number.POSITIVE_INFINITY;
  if (schedule === undefined) return ready;
  if (state.phase === idle && schedule.inForce(from)) return ready;
  return Math.min(ready, schedule.nextChange(from));
}

/**
 * Whether a state says nothing that a first one would not: it needs not be kept. `time`: on the clock of the rule's
 * type.
 */
export function isForgettable(rule: CompiledRule, state: RuleState, time: number): boolean {
  if (state === initialState) return true;
  if (state.phase !== idle || state.level || state.memory.length > 0 || state.conditions !== 0) return false;
  return state.firedAt === 0 || time - state.firedAt >= rule.calm.cooldownMs;
}
