import { errorKinds } from "../../src/errors/catalogue.ts";
import { type Generator, generatedMark, markdownTable } from "./generator.ts";

/** Every failure that the API answers. */
export const errorsDoc: Generator = {
  file: "docs/generated/errors.md",
  render() {
    const rows = Object.entries(errorKinds)
      .toSorted(([, left], [, right]) => left.status - right.status)
      .map(([name, kind]) => [String(kind.status), kind.text, kind.retryable ? "yes" : "no", `\`${name}\``]);
    return `${generatedMark}
# Errors

Every JSON answer carries \`success\` and \`error\`; on failure \`error\` holds the text below, exactly, and \`details\` (where present) says what is wrong and where.
Where trying again later may help, the answer has \`Retry-After\`.

${markdownTable(["status", "`error`", "try again later", "name in the code"], rows)}
`;
  },
};
