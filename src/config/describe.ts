import type { LoadedConfig } from "./load.ts";
import type { Source } from "./problem.ts";
import { otherVariables } from "./schema.ts";
import { settings } from "./settings.ts";

/** One setting in force. */
export interface DescribedSetting {
  readonly key: string;
  readonly value: unknown;
  readonly from: Source;
  readonly env: string;
  readonly unit?: string;
  readonly meaning: string;
}

/** Every setting in force and where it comes from, in the order of the schema. */
export function describeConfig({ config, sources }: LoadedConfig): readonly DescribedSetting[] {
  return settings.map(({ key, env, unit, meaning }) => ({
    key,
    value: key.split(".").reduce<unknown>(member, config),
    from: sources.get(key) ?? "default",
    env,
    ...(unit !== undefined && { unit }),
    meaning,
  }));
}

/** The documentation page of all settings, as Markdown. */
export function configPage(): string {
  const rows = settings.map(
    ({ key, env, fallback, unit, right, meaning }) =>
      `| \`${key}\` | \`${env}\` | \`${fallback}\`${unit && unit !== "port" ? ` ${unit}` : ""} | ${right} | ${meaning} |`,
  );
  const others = otherVariables.map(({ env, description }) => `| \`${env}\` | ${description} |`);
  return `# Configuration

A variable wins over the file, the file over the default. The file is \`waybeam.json\` in the working folder, or the one that \`--config\` or
\`WAYBEAM_CONFIG\` names; its keys are nested: \`{"http":{"port":8080}}\`. An unknown key or variable, or a value that is not allowed, stops the
start with every problem listed. \`waybeam config\` prints what is in force and where it comes from.

| key | variable | default | allowed | meaning |
|---|---|---|---|---|
${rows.join("\n")}

Variables that are no settings:

| variable | meaning |
|---|---|
${others.join("\n")}
`;
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
