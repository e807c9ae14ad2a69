import { attributeThreshold } from "../families/attribute.ts";
import type { RuleType } from "../judge.ts";

/** A reading or attribute is greater than a value. */
export const attributeGreater: RuleType<"attributeGreater"> = attributeThreshold("over");
