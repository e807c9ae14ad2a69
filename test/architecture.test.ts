import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { codeLines, readSources, type Source } from "./support/sources.ts";

/**
 * What each room may import beside itself; a room that is not listed may not be there. `protocols/index` is that one
 * file.
 */
const allowed: Readonly<Record<string, readonly string[]>> = {
  model: ["../package.json"],
  errors: [],
  contract: ["model"],
  geo: ["model"],
  wording: ["model"],
  wire: ["model"],
  shares: ["ports"],
  config: ["model"],
  protocols: ["model", "wire"],
  ports: ["model", "errors"],
  gateway: ["protocols/index", "wire", "shares", "model", "errors", "ports"],
  fold: ["model", "geo"],
  follow: ["model", "fold", "ports"],
  history: ["model", "fold", "shares", "ports"],
  ingest: ["model", "geo", "shares", "errors", "ports"],
  alerts: ["model", "geo", "wording", "shares", "errors", "ports"],
  domain: ["model", "geo", "shares", "errors", "ports", "contract"],
  auth: ["model", "geo", "shares", "errors", "ports", "contract"],
  http: ["domain", "auth", "contract", "shares", "model", "errors", "ports"],
  store: ["model", "fold", "shares", "errors", "ports"],
  bus: ["model", "errors", "ports"],
  tls: ["ports"],
  notify: ["model", "wording", "shares", "errors", "ports"],
  observe: ["model", "shares", "errors", "ports"],
  cli: ["contract", "protocols/index", "wire", "model", "simulator", "credentials-file"],
  simulator: ["protocols/index", "wire", "geo", "model", "ports"],
};

/**
 * They put the parts together, so they see all of them; the credentials file is what the first start leaves for the
 * command line.
 */
const compositionRoots: readonly string[] = ["app.ts", "credentials-file.ts", "main.ts"];

/** Rooms of pure functions: neither packages nor the runtime's modules. */
const pure: readonly string[] = ["model", "errors", "geo", "fold", "wording", "wire", "shares", "protocols"];

const exportPattern = /^export (?:default )?(?:async )?(?:abstract )?(?:function\*?|const|class|interface|type) (\w+)/;

const longestFile = 400;
const medianLines = 120;

const sources = readSources();
const code = sources.filter((source) => !source.test);
/** Lists that `npm run gen` writes grow with the protocols. */
const generated: ReadonlySet<string> = new Set(["protocols/index.ts", "model/protocol-ids.ts"]);
const written = code.filter((source) => !generated.has(source.path));

function roomOf(path: string): string {
  return path.split("/")[0] ?? path;
}

function permits(source: Source, target: string): boolean {
  if (compositionRoots.includes(source.path)) return true;
  const rules = allowed[source.room];
  if (rules === undefined) return false;
  if (source.room === "protocols" && roomOf(target) === "protocols") return sameProtocol(source.path, target);
  return (
    roomOf(target) === source.room || rules.includes(roomOf(target)) || rules.includes(target.replace(/\.ts$/, ""))
  );
}

/** A protocol's folder is its own; only the index knows them all. */
function sameProtocol(from: string, to: string): boolean {
  if (from === "protocols/index.ts") return true;
  const own = from.split("/")[1];
  return from.split("/").length > 2 && to.split("/")[1] === own;
}

/** Lines of the files outside `free` that match, as "path:line: text". */
function uses(pattern: RegExp, free: (path: string) => boolean): string[] {
  return code
    .filter((source) => !free(source.path))
    .flatMap((source) =>
      codeLines(source.text).flatMap((line, index) =>
        pattern.test(line) ? [`${source.path}:${index + 1}: ${line.trim()}`] : [],
      ),
    );
}

/** main starts and ends the process; observe measures it, and has the Clock and the Ids. */
function mayTouchProcess(path: string): boolean {
  return path === "main.ts" || path.startsWith("observe/");
}

describe("imports", () => {
  it("name files that exist, with their ending", () => {
    const paths = new Set(sources.map((source) => source.path));
    const missing = sources.flatMap((source) =>
      source.imports
        .filter((entry) => entry.path !== undefined && !entry.path.startsWith("..") && !entry.path.endsWith(".json"))
        .filter((entry) => !paths.has(entry.path ?? ""))
        .map((entry) => `${source.path}: ${entry.written}`),
    );
    assert.deepEqual(missing, []);
  });

  it("go only where the rules allow", () => {
    const wrong = code.flatMap((source) =>
      source.imports
        .filter((entry) => entry.path !== undefined && !permits(source, entry.path))
        .map((entry) => `${source.path} -> ${entry.path}`),
    );
    assert.deepEqual(wrong, []);
  });

  it("of files outside every room are none", () => {
    const homeless = code.filter((source) => !(source.room in allowed) && !compositionRoots.includes(source.path));
    assert.deepEqual(
      homeless.map((source) => source.path),
      [],
    );
  });

  it("of pure rooms name neither packages nor the runtime's modules", () => {
    const impure = code
      .filter((source) => pure.includes(source.room))
      .flatMap((source) =>
        source.imports.filter((entry) => entry.path === undefined).map((entry) => `${source.path}: ${entry.written}`),
      );
    assert.deepEqual(impure, []);
  });

  it("of sockets stand only in the gateway and the simulator", () => {
    const sockets = code
      .filter((source) => !["gateway", "simulator", "tls"].includes(source.room))
      .flatMap((source) =>
        source.imports
          .filter((entry) => /^(node:)?(net|dgram|tls)$/.test(entry.written))
          .map((entry) => `${source.path}: ${entry.written}`),
      );
    assert.deepEqual(sockets, []);
  });

  it("of what every engine of the store uses name no engine", () => {
    const ofAll = ["rows", "migrations", "removal"];
    const wrong = code
      .filter(({ path }) => ofAll.includes(path.split("/")[1] ?? "") && path.startsWith("store/"))
      .flatMap((source) =>
        source.imports
          .filter(({ path, written }) => /^store\/(sqlite|postgres)\//.test(path ?? "") || written === "node:sqlite")
          .map(({ path, written }) => `${source.path} -> ${path ?? written}`),
      );
    assert.deepEqual(wrong, []);
  });

  it("have no cycles", () => {
    assert.deepEqual(cycles(), []);
  });
});

describe("the world outside", () => {
  it("tells the time only through the Clock", () => {
    const clock = /\bDate\.now\b|\bperformance\.(now|timeOrigin)\b|\bnew Date\(\s*\)|\bTemporal\.Now\b|\bhrtime\b/;
    assert.deepEqual(uses(clock, mayTouchProcess), []);
  });

  it("gives randomness only through the Ids", () => {
    const random = /\bMath\.random\b|\brandom(UUID|Bytes|Int|FillSync|Fill)\b|\bgetRandomValues\b/;
    assert.deepEqual(uses(random, mayTouchProcess), []);
  });

  it("is a process only to main and observe", () => {
    // `getBuiltinModule` imports a module and touches nothing of the process.
    assert.deepEqual(uses(/\bprocess\.(?!getBuiltinModule\()[a-z]|"(node:)?process"/, mayTouchProcess), []);
  });
});

describe("files", () => {
  it(`have at most ${longestFile} lines`, () => {
    const long = sources.filter((source) => source.lines > longestFile && !generated.has(source.path));
    assert.deepEqual(
      long.map((source) => `${source.path}: ${source.lines}`),
      [],
    );
  });

  it(`have fewer than ${medianLines} lines in the median`, () => {
    const lengths = written.map((source) => source.lines).toSorted((left, right) => left - right);
    const median = lengths[Math.floor(lengths.length / 2)] ?? 0;
    assert.ok(median < medianLines, `median ${median}`);
  });

  it("have comments within 120 characters", () => {
    const long = sources.flatMap(({ path, text }) =>
      text
        .split("\n")
        .filter((line) => line.length > 120 && /^\s*(?:\/\/|\/?\*)/.test(line) && !line.includes("biome-ignore"))
        .map((line) => `${path}: ${line.trim()}`),
    );
    assert.deepEqual(long, []);
  });

  it("say of everything they export what it is", () => {
    assert.deepEqual(code.flatMap(undocumented), []);
  });
});

/**
 * Exported declarations without a docstring right before them. The second of two under one name (an overload, the type
 * of a schema) shares the first one's, and so do constants that follow it line by line.
 */
function undocumented(source: Source): string[] {
  const lines = source.text.split("\n");
  const seen = new Set<string>();
  return lines.flatMap((line, index) => {
    const name = exportPattern.exec(line)?.[1];
    if (name === undefined || seen.has(name)) return [];
    seen.add(name);
    const before = lines[index - 1] ?? "";
    return before.trim().endsWith("*/") || before.startsWith("export const")
      ? []
      : [`${source.path}:${index + 1}: ${name}`];
  });
}

/** The shortest found way round of every cycle among the files, as "a -> b -> a". */
function cycles(): string[] {
  const edges = new Map(code.map((source) => [source.path, source.imports.flatMap((entry) => entry.path ?? [])]));
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, way: readonly string[]): void => {
    const at = way.indexOf(path);
    if (at >= 0) {
      found.push([...way.slice(at), path].join(" -> "));
      return;
    }
    if (done.has(path)) return;
    for (const next of edges.get(path) ?? []) visit(next, [...way, path]);
    done.add(path);
  };
  for (const path of edges.keys()) visit(path, []);
  return found;
}
