import { attributeThreshold } from "../families/attribute.ts";
import type { RuleType } from "../judge.ts";

/** A reading or attribute is less than a value. */
export const attributeLess: RuleType<"attributeLess"> = attributeThreshold("under");
