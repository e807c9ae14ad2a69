import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";

/** One source file. Paths are from `src`, with `/`. */
export interface Source {
  readonly path: string;
  readonly room: string;
  readonly text: string;
  readonly lines: number;
  readonly test: boolean;
  readonly imports: readonly Import[];
}

/** What a file imports: a path from `src`, or a package or built-in module as it is written. */
export interface Import {
  readonly written: string;
  /** Absent: a package or a built-in module. */
  readonly path?: string;
  readonly type: boolean;
}

const root = resolve(import.meta.dirname, "../..");
const src = join(root, "src");

/** `import`, `export ... from` and `import()`; group 1 says that only types come. */
const importPattern =
  /^\s*(?:import|export)\s+(type\s)?[^"';]*?from\s+"([^"]+)"|^\s*import\s+()"([^"]+)"|\bimport\(\s*()"([^"]+)"\s*\)/gm;

function importsOf(path: string, text: string): Import[] {
  return [...text.matchAll(importPattern)].map((match) => {
    const written = match[2] ?? match[4] ?? match[6] ?? "";
    const type = match[1] !== undefined;
    if (!written.startsWith(".")) return { written, type };
    return {
      written,
      type,
      path: relative(src, resolve(src, dirname(path), written))
        .split(sep)
        .join("/"),
    };
  });
}

/** Every TypeScript file under `src`. */
export function readSources(): readonly Source[] {
  return readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((name) => {
      const path = name.split(sep).join("/");
      const text = readFileSync(join(src, name), "utf8");
      const [room = ""] = path.split("/");
      const lines = text.split("\n").length - 1;
      return { path, room, text, lines, test: path.endsWith(".test.ts"), imports: importsOf(path, text) };
    });
}

/** A file's code without its comments, line by line (strings stay: a scanner would be more than the rules need). */
export function codeLines(text: string): readonly string[] {
  const bare = text.replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ""));
  return bare.split("\n").map((line) => line.replace(/(^|\s)\/\/.*$/, ""));
}
