/** A protocol's id, and a port's number. */
const entry = /^([a-z][a-z0-9]*)=(0|[1-9]\d{0,4})$/;

/**
 * The ports of a text like `teltonika=5027, gt06=5023`, by protocol; 0 is any free one. Undefined where the text has
 * another form, or names a protocol or a port twice.
 */
export function ownPortsOf(text: string): ReadonlyMap<string, number> | undefined {
  const ports = new Map<string, number>();
  const taken = new Set<number>();
  for (const item of text === "" ? [] : text.split(",")) {
    const [, protocol, digits] = entry.exec(item.trim()) ?? [];
    const port = Number(digits);
    if (protocol === undefined || port > 65_535 || ports.has(protocol) || taken.has(port)) return undefined;
    ports.set(protocol, port);
    if (port > 0) taken.add(port);
  }
  return ports;
}
