import { checkAttribute } from "../families/attribute.ts";
import { no, nothing, type RuleType, yes } from "../judge.ts";
import { equals, readerOf } from "../values.ts";
/** A reading or attribute has a value. */
export const attributeEqual: RuleType<"attributeEqual"> = {
  clock: "none",
  momentary: false,
  check: ({ attribute, value }) => checkAttribute(attribute, value),
  judge({ attribute, value: wanted }) {
    const read = readerOf(attribute);
    return {
      kind: "level",
      judge(seen) {
        const value = read(seen);
        if (value === undefined) return nothing;
        return equals(value, wanted) ? yes : no;
      },
      facts: (seen) => ({ attribute, value: read(seen) ?? wanted, limit: wanted }),
    };
  },
};
