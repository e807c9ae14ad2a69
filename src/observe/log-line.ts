/** Members that have their own place in a readable line. */
const placed: ReadonlySet<string> = new Set(["time", "level", "message", "error"]);

/**
 * A log's JSON line for a person at a terminal: `10:21:07 info  listening  port=8888`. A line that is no JSON object
 * stays as it is.
 */
export function readableLine(line: string): string {
  const fields = parse(line);
  if (fields === undefined) return line;
  const time = String(fields.time ?? "").slice(11, 19);
  let text = `${time} ${String(fields.level ?? "").padEnd(5)} ${String(fields.message ?? "")}`;
  for (const [name, value] of Object.entries(fields)) {
    if (!placed.has(name)) text += `  ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`;
  }
  const error = fields.error;
  if (typeof error === "object" && error !== null && "stack" in error) text += `\n  ${String(error.stack)}`;
  else if (error !== undefined) text += `  error=${typeof error === "string" ? error : JSON.stringify(error)}`;
  return `${text}\n`;
}

function parse(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
