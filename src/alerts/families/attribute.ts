import type { AlertFactsOf } from "../../model/alert-facts.ts";
import type { AlertParameters, Comparable } from "../../model/alert-rule.ts";
import { isReading, readingRows } from "../../model/readings.ts";
import type { RuleType } from "../judge.ts";
import { kindOf, numberReaderOf } from "../values.ts";
import { within } from "./check.ts";
import { thresholdJudge } from "./threshold.ts";

/** Longest name of an attribute that a rule can ask for. */
const longestName = 128;

type Range = readonly [least: number, most: number, unit: string];

/** Ranges of a position's own fields. */
const ownRanges: ReadonlyMap<string, Range> = new Map([
  ["speed", [0, 500, "km/h"]],
  ["course", [0, 360, "degrees"]],
]);

/** What a name can be at least and at most; undefined: it has no bounds. */
function rangeOf(name: string): Range | undefined {
  const row = isReading(name) ? readingRows[name] : undefined;
  return row?.kind === "number" ? [row.least, row.most, row.unit] : ownRanges.get(name);
}

/** Problems of a comparison: a name that can be none, a value that the reading never has. */
export function checkAttribute(attribute: string, value: Comparable): readonly string[] {
  if (attribute.trim() === "" || attribute.length > longestName)
    return [`attribute must be a name of 1 to ${longestName} characters`];
  if (typeof value === "number" && !Number.isFinite(value)) return ["value must be a finite number"];
  const kind = kindOf(attribute);
  if (kind !== undefined && kind !== typeof value) return [`${attribute} is a ${kind}: it is never ${String(value)}`];
  const range = rangeOf(attribute);
  return range === undefined || typeof value !== "number" ? [] : within(`value of ${attribute}`, value, ...range);
}

/** Problems of a threshold: as above, and an attribute that is no number. */
export function checkNumericAttribute(attribute: string, value: number): readonly string[] {
  const kind = kindOf(attribute);
  if (kind !== undefined && kind !== "number") return [`${attribute} is a ${kind}: it is neither greater nor less`];
  return checkAttribute(attribute, value);
}

/** A type that asks whether an attribute is over or under a value. */
export function attributeThreshold(side: "over" | "under"): RuleType<"attributeGreater"> & RuleType<"attributeLess"> {
  return {
    clock: "none",
    momentary: false,
    threshold: ({ value }: AlertParameters["attributeGreater"]) => ({ limit: value, side }),
    check: ({ attribute, value }: AlertParameters["attributeGreater"]) => checkNumericAttribute(attribute, value),
    judge: ({ attribute, value }: AlertParameters["attributeGreater"], setup) =>
      thresholdJudge<AlertFactsOf["attributeGreater"]>(side, value, setup, numberReaderOf(attribute), (measured) => ({
        attribute,
        ...measured,
      })),
  };
}
