import type { LoadedConfig } from "./load.ts";
import type { Source } from "./problem.ts";
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
  return settings.map(({ key, env, unit, meaning, secret }) => ({
    key,
    value: shown(key.split(".").reduce<unknown>(member, config), secret),
    from: sources.get(key) ?? "default",
    env,
    ...(unit !== undefined && { unit }),
    meaning,
  }));
}

/** A secret only tells whether it is set. */
function shown(value: unknown, secret: boolean): unknown {
  return secret && value !== "" ? "(secret)" : value;
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
