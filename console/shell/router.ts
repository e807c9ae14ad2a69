import { type PageName, pages } from "./pages.ts";

/** Where a person is: the page, what its path names, and what the address asks for. */
export interface Place {
  readonly page: PageName | "unknown";
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

const patterns = Object.entries(pages).map(([name, path]) => ({
  name: name as PageName,
  parts: path.split("/").slice(1),
}));

/** The place of an address. */
export function placeOf(path: string, search: string): Place {
  const parts = path.replace(/\/+$/, "").split("/").slice(1);
  const wanted = parts.length === 0 ? [""] : parts;
  for (const { name, parts: pattern } of patterns) {
    const params = paramsOf(pattern, wanted);
    if (params !== undefined) return { page: name, params, query: new URLSearchParams(search) };
  }
  return { page: "unknown", params: {}, query: new URLSearchParams(search) };
}

function paramsOf(pattern: readonly string[], parts: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const given = parts[index] ?? "";
    if (!part.startsWith(":")) {
      if (part !== given) return undefined;
      continue;
    }
    const value = decoded(given);
    if (value === undefined || value === "") return undefined;
    params[part.slice(1)] = value;
  }
  return params;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The address of a page. What is undefined or empty of the query is left out. */
export function addressOf(
  page: PageName,
  params: Readonly<Record<string, string>> = {},
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const path = pages[page].replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const search = new URLSearchParams(Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]));
  return search.size === 0 ? path : `${path}?${search}`;
}
