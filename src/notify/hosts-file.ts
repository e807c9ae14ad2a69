import type { LookupAddress } from "node:dns";
import { readFile, stat } from "node:fs/promises";
import { addressOfHost } from "./address.ts";

/** The system's own list of names (hosts(5)). It is read again when it has changed. */
export class HostsFile {
  readonly #path: string;
  #version = "";
  #names: ReadonlyMap<string, readonly LookupAddress[]> = new Map();

  constructor(path = "/etc/hosts") {
    this.#path = path;
  }

  /** The addresses of a name in lower case; none where it is not listed, or there is no such file. */
  async find(name: string): Promise<readonly LookupAddress[]> {
    try {
      const { mtimeMs, size, ino } = await stat(this.#path);
      const version = `${mtimeMs} ${size} ${ino}`;
      if (version !== this.#version) {
        this.#names = parseHosts(await readFile(this.#path, "utf8"));
        this.#version = version;
      }
    } catch {
      // Not every system has one: the names are found in other ways then.
      return [];
    }
    return this.#names.get(name) ?? [];
  }
}

/** Names in lower case with all of their addresses. What is no address is passed over. */
export function parseHosts(text: string): ReadonlyMap<string, readonly LookupAddress[]> {
  const names = new Map<string, LookupAddress[]>();
  for (const line of text.split("\n")) {
    const [first = "", ...aliases] = line.replace(/#.*$/s, "").trim().split(/\s+/);
    const address = addressOfHost(first);
    if (address === undefined) continue;
    const entry = { address, family: address.includes(":") ? 6 : 4 };
    for (const alias of aliases) {
      const name = alias.toLowerCase();
      names.set(name, [...(names.get(name) ?? []), entry]);
    }
  }
  return names;
}
