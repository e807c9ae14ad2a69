/** Longer ids are ignored: receipts and records hold the id. */
const longestId = 255;

/**
 * The message's id in a gateway's answer: by a path into JSON (`messages.0.id`), or by the first group of a regular
 * expression (`^` and `$` are those of a line). Undefined: there is none.
 */
export function messageId(answer: string, path: string, pattern: string): string | undefined {
  const id = path === "" ? new RegExp(pattern, "m").exec(answer)?.[1] : atPath(answer, path);
  return id !== undefined && id !== "" && id.length <= longestId ? id : undefined;
}

function atPath(answer: string, path: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(answer);
  } catch {
    return undefined;
  }
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = Reflect.get(value, name);
  }
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : undefined;
}
