import type { Problem } from "./problem.ts";
import { groups, settings } from "./settings.ts";
import { suggest } from "./suggest.ts";

/** Reads the nested JSON form into one value per key. What is no setting is added to `problems`. */
export function readSettings(name: string, text: string, problems: Problem[]): Map<string, unknown> {
  const values = new Map<string, unknown>();
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch (error) {
    const wrong = `not JSON: ${error instanceof Error ? error.message : String(error)}`;
    problems.push({
      key: "the whole file",
      from: name,
      wrong,
      right: 'it must be an object like {"http":{"port":8080}}',
    });
    return values;
  }
  const keys = new Set(settings.map((setting) => setting.key));
  collect(root, "", (key, value) => {
    if (keys.has(key)) return void values.set(key, value);
    if (groups.has(key) || key === "") {
      const wrong = `${JSON.stringify(value).slice(0, 80)} is not a group of settings`;
      problems.push({ key: key || "the whole file", from: name, wrong, right: "it must be a JSON object" });
    } else problems.push({ key, from: name, wrong: "there is no such key", right: hint(key, keys) });
  });
  return values;
}

/** Calls `found` for everything in the file that is no group of settings. */
function collect(value: unknown, path: string, found: (key: string, value: unknown) => void): void {
  const isGroup = path === "" || groups.has(path);
  if (!isGroup || typeof value !== "object" || value === null || Array.isArray(value)) found(path, value);
  else for (const [name, part] of Object.entries(value)) collect(part, path === "" ? name : `${path}.${name}`, found);
}

function hint(key: string, keys: ReadonlySet<string>): string {
  const near = suggest(key, [...keys, ...groups]);
  return near ? `did you mean ${near}?` : "`waybeam config` lists all settings";
}
