/**
 * Two JSON values are equal as RFC 6902, section 4.6, has it: numbers by their value (so 0 and -0 are), the order of an
 * object's fields is none. Not recursive, for a body may be nested deeper than the stack.
 */
export function jsonEqual(left: unknown, right: unknown): boolean {
  const waiting: (readonly [unknown, unknown])[] = [[left, right]];
  for (let pair = waiting.pop(); pair !== undefined; pair = waiting.pop()) {
    const [one, other] = pair;
    if (one === other) continue;
    if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
    if (Array.isArray(one) !== Array.isArray(other)) return false;
    const members = Object.entries(one);
    if (members.length !== Object.keys(other).length) return false;
    for (const [name, value] of members) {
      const counterpart = Object.getOwnPropertyDescriptor(other, name);
      if (counterpart === undefined) return false;
      waiting.push([value, counterpart.value]);
    }
  }
  return true;
}
