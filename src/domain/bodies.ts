/** Fields of the envelope: a client that sends back what it was answered sends them too. */
const envelope: readonly string[] = ["success", "error", "apiUsage", "apiDailyUsage", "warnings"];

/** Warnings of a body's fields that are neither settable nor such as an answer has; they are not used. */
export function unknownFields(
  body: object,
  settable: readonly string[],
  shown: readonly string[],
  where = "body",
): readonly string[] {
  return Object.keys(body)
    .filter((name) => !settable.includes(name) && !shown.includes(name) && !envelope.includes(name))
    .map((name) => `${where}/${name}: not a field that can be set; ignored`);
}

/** Warnings of fields in a question that are none of its own: a misspelt one would else answer another question in silence. */
export function unknownTerms(body: object, terms: object): readonly string[] {
  return Object.keys(body)
    .filter((name) => !Object.hasOwn(terms, name))
    .map((name) => `body/${name}: not a field of this request; ignored`);
}
