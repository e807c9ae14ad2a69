import { otherVariables, settings } from "../../src/config/index.ts";
import { type Generator, generatedMark, markdownTable } from "./generator.ts";

/** Every setting, from the schema that the service reads its configuration with. */
export const configDoc: Generator = {
  file: "docs/generated/config.md",
  render() {
    const rows = settings.map(({ key, env, fallback, unit, right, meaning }) => [
      `\`${key}\``,
      `\`${env}\``,
      `\`${fallback}\`${unit && unit !== "port" ? ` ${unit}` : ""}`,
      right,
      meaning,
    ]);
    const others = otherVariables.map(({ env, description }) => [`\`${env}\``, description]);
    return `${generatedMark}
# Configuration

A variable wins over the file, the file over the default; an empty variable counts as not set. The file is \`waybeam.json\` in the working folder, or the
one that \`--config\` or \`WAYBEAM_CONFIG\` names; its keys are nested: \`{"http":{"port":8080}}\`. An unknown key or variable, or a value that is not
allowed, stops the start with every problem listed. \`waybeam config\` prints what is in force and where it comes from.

${markdownTable(["key", "variable", "default", "allowed", "meaning"], rows)}

Variables that are no settings:

${markdownTable(["variable", "meaning"], others)}
`;
  },
};
