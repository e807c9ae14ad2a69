import { Check } from "typebox/schema";
import { readSettings } from "./file.ts";
import { mailProblems } from "./mail.ts";
import type { Problem, Source } from "./problem.ts";
import { type Config, configSchema, otherVariables } from "./schema.ts";
import { type Setting, settings } from "./settings.ts";
import { smsProblems } from "./sms-check.ts";
import { suggest } from "./suggest.ts";
import { tlsProblems } from "./tls.ts";

/** What the configuration is made of. Reading the file and the environment is the caller's. */
export interface ConfigInput {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly file?: { readonly name: string; readonly text: string };
}

/** The settings in force and, for each key, where its value comes from. */
export interface LoadedConfig {
  readonly config: Config;
  readonly sources: ReadonlyMap<string, Source>;
}

/**
 * Makes the configuration: a variable wins over the file, the file over the default. An empty variable counts as not
 * set. Answers all problems at once where there is any: values that are not allowed, and keys and variables that do not
 * exist.
 */
export function loadConfig(input: ConfigInput): LoadedConfig | { readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const inFile = input.file ? readSettings(input.file.name, input.file.text, problems) : new Map<string, unknown>();
  const values = new Map<string, unknown>();
  const sources = new Map<string, Source>();
  for (const setting of settings) {
    const variable = input.env[setting.env];
    const set = variable !== undefined && variable !== "";
    const given = set || inFile.has(setting.key);
    const from = set ? setting.env : given && input.file ? input.file.name : "default";
    const value = set ? fromText(setting, variable) : given ? inFile.get(setting.key) : setting.fallback;
    sources.set(setting.key, from);
    values.set(setting.key, value);
    if (!Check(setting.schema, value)) problems.push(badValue(setting, from, set ? variable : value));
    // What a variable hides is checked too: it would stop the start on the day that the variable goes.
    const hidden = inFile.get(setting.key);
    if (set && input.file && inFile.has(setting.key) && !Check(setting.schema, hidden))
      problems.push(badValue(setting, input.file.name, hidden));
  }
  const config = nest(values);
  for (const { key, wrong, right } of problemsTogether(config))
    problems.push({ key, from: sources.get(key) ?? "default", wrong, right });
  problems.push(...unknownVariables(input.env));
  if (problems.length > 0) return { problems };
  if (!Check(configSchema, config)) throw new Error("the configuration's parts are valid and its whole is not");
  return { config: deepFreeze(config), sources };
}

/** What is wrong with settings that belong together, where each by itself is right. */
function problemsTogether(config: unknown): readonly Omit<Problem, "from">[] {
  const { sms, mail, http, device }: Record<string, unknown> = isRecord(config) ? config : {};
  return [
    ...(Check(configSchema.properties.sms, sms) ? smsProblems(sms) : []),
    ...(Check(configSchema.properties.mail, mail) ? mailProblems(mail) : []),
    ...(Check(configSchema.properties.http, http) ? tlsProblems("http.tls", http.tls) : []),
    ...(Check(configSchema.properties.device, device) ? tlsProblems("device.tls", device.tls) : []),
  ];
}

function fromText(setting: Setting, value: string): unknown {
  if (setting.kind === "boolean" && (value === "true" || value === "false")) return value === "true";
  return setting.kind === "integer" && /^[+-]?\d{1,15}$/.test(value.trim()) ? Number(value) : value;
}

function badValue(setting: Setting, from: Source, value: unknown): Problem {
  const shown = setting.secret ? "this value" : (JSON.stringify(value)?.slice(0, 80) ?? "nothing");
  return { key: setting.key, from, wrong: `${shown} is not allowed`, right: `it must be ${setting.right}` };
}

function unknownVariables(env: ConfigInput["env"]): Problem[] {
  const prefix = "WAYBEAM_";
  const known = new Set([...settings, ...otherVariables].map((variable) => variable.env));
  // The prefix, which all have, is no resemblance.
  const names = [...known].map((name) => name.slice(prefix.length));
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix) && !known.has(name))
    .sort()
    .map((name) => {
      const near = suggest(name.slice(prefix.length), names);
      const right = near ? `did you mean ${prefix}${near}?` : "`waybeam config` lists all settings";
      return { key: name, from: "environment", wrong: "there is no such variable", right };
    });
}

function nest(values: ReadonlyMap<string, unknown>): unknown {
  const root: Record<string, unknown> = {};
  for (const [key, value] of values) {
    let group = root;
    const names = key.split(".");
    const last = names.pop() ?? key;
    for (const name of names) {
      const inner = group[name];
      const next = isRecord(inner) ? inner : {};
      group[name] = next;
      group = next;
    }
    group[last] = value;
  }
  return root;
}

function deepFreeze<T>(value: T): T {
  if (isRecord(value)) for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
