import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import type { Change, Naming, Operation } from "./disk-record.ts";

/** What of the operations that were not synced is on the disk. */
export interface Survival {
  /** The parts of a write of so many bytes, each from one byte to before another. */
  parts(length: number): readonly (readonly [from: number, to: number])[];
  /** Whether a file has its new size. */
  truncates(): boolean;
  /** How many of the latest changes of names, the first ones of them. A journal keeps their order. */
  names(count: number): number;
}

/** Everything. */
export const everything: Survival = {
  parts: (length) => [[0, length]],
  truncates: () => true,
  names: (count) => count,
};

/** A file or a folder, whatever its names are. */
class Content {
  readonly isFolder: boolean;
  /** Operations before this index that concern it are on the disk. */
  synced = 0;
  #bytes: Buffer;
  /** The bytes are its own, and those behind its size are zero. */
  #isOwn = false;
  #size: number;

  constructor(isFolder: boolean, bytes: Buffer = Buffer.alloc(0)) {
    this.isFolder = isFolder;
    this.#bytes = bytes;
    this.#size = bytes.length;
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  write(at: number, data: Buffer): void {
    this.#resize(Math.max(this.#size, at + data.length));
    data.copy(this.#bytes, at);
  }

  truncate(size: number): void {
    this.#resize(size);
  }

  #resize(size: number): void {
    if (!this.#isOwn || size > this.#bytes.length) {
      const grown = Buffer.alloc(Math.max(size, Math.min(2 * size, size + 2 ** 24)));
      this.bytes.copy(grown);
      this.#bytes = grown;
      this.#isOwn = true;
    }
    if (size < this.#size) this.#bytes.fill(0, size, Math.min(this.#size, this.#bytes.length));
    this.#size = size;
  }
}

/** Names in folders. */
class Names {
  readonly #root: Content;
  readonly #of = new Map<Content, Map<string, Content>>();

  constructor(root: Content) {
    this.#root = root;
  }

  /** What lies at a path in the folder. */
  at(path: string): Content | undefined {
    let found: Content | undefined = this.#root;
    for (const name of path.split(sep).filter(Boolean)) found = found && this.#of.get(found)?.get(name);
    return found;
  }

  put(path: string, content: Content): void {
    const folder = this.#folderOf(path);
    const names = this.#of.get(folder) ?? new Map<string, Content>();
    this.#of.set(folder, names.set(path.slice(path.lastIndexOf(sep) + 1), content));
  }

  remove(path: string): void {
    this.#of.get(this.#folderOf(path))?.delete(path.slice(path.lastIndexOf(sep) + 1));
  }

  /** All paths, folders before what is in them. */
  *all(folder = this.#root, before = ""): Generator<readonly [path: string, content: Content]> {
    for (const [name, content] of this.#of.get(folder) ?? []) {
      const path = join(before, name);
      yield [path, content];
      if (content.isFolder) yield* this.all(content, path);
    }
  }

  #folderOf(path: string): Content {
    const folder = dirname(path);
    const found = this.at(folder === "." ? "" : folder);
    if (found === undefined) throw new Error(`the record of the disk has no folder of ${path}`);
    return found;
  }
}

/** A folder as it was read. */
export interface Base {
  readonly root: string;
  /** `bytes`: of a file. `file`: its number. */
  readonly entries: readonly { readonly path: string; readonly file: number; readonly bytes?: Buffer }[];
  /** The number of the folder itself. */
  readonly file: number;
}

/** Reads a folder. */
export function readBase(root: string): Base {
  const entries = readdirSync(root, { recursive: true, encoding: "utf8" }).map((path) => {
    const found = statSync(join(root, path));
    return { path, file: found.ino, ...(found.isFile() && { bytes: readFileSync(join(root, path)) }) };
  });
  // Folders before what is in them.
  entries.sort((one, other) => (one.path < other.path ? -1 : 1));
  return { root, entries, file: statSync(root).ino };
}

/** What is in a folder after some operations of which not all reached the disk. */
export class Image {
  readonly #root: string;
  readonly #names: Names;
  /** Writes and changes of names of which nothing, or a part, reached the disk. */
  lost = 0;

  constructor(base: Base, operations: readonly Operation[], survival: Survival) {
    this.#root = base.root;
    const history = new History(base, operations);
    for (const [content, change] of history.changes)
      if (change.index < content.synced) apply(content, change, everything);
      else if (!apply(content, change, survival)) this.lost++;
    const synced = history.namings.findLastIndex(
      ({ naming, folders }) => naming.index < Math.max(...folders.map((folder) => folder.synced)),
    );
    const open = history.namings.length - synced - 1;
    const kept = synced + 1 + survival.names(open);
    this.lost += history.namings.length - kept;
    this.#names = history.first();
    for (const { naming, content } of history.namings.slice(0, kept)) rename(this.#names, naming, base.root, content);
  }

  /**
   * The first path at which the folder is something else; undefined where it is nowhere. `unsure`: what a kill may have
   * cut short.
   */
  difference(unsure: Operation | undefined): string | undefined {
    const named = new Set<string>();
    for (const [path, content] of this.#names.all()) {
      named.add(path);
      const found = statSync(join(this.#root, path), { throwIfNoEntry: false });
      if (found === undefined || found.isDirectory() !== content.isFolder) return path;
      // SQLite maps the index of its log, and makes it anew after a crash.
      if (content.isFolder || path.endsWith("-shm")) continue;
      const bytes = readFileSync(join(this.#root, path));
      if (unsure?.kind === "write" && unsure.file === found.ino)
        content.write(unsure.at, bytes.subarray(unsure.at, unsure.at + unsure.data.length));
      if (!bytes.equals(content.bytes)) return path;
    }
    return readdirSync(this.#root, { recursive: true, encoding: "utf8" }).find((path) => {
      const found = statSync(join(this.#root, path));
      // The kill came after an empty one was made, and before that was recorded.
      return !named.has(path) && (found.isDirectory() ? readdirSync(join(this.#root, path)).length : found.size) > 0;
    });
  }

  /** Makes the folder so. */
  write(): void {
    for (const name of readdirSync(this.#root)) rmSync(join(this.#root, name), { recursive: true });
    const written = new Map<Content, string>();
    for (const [path, content] of this.#names.all()) {
      const place = join(this.#root, path);
      const other = written.get(content);
      if (content.isFolder) mkdirSync(place, { mode: 0o700 });
      else if (other !== undefined) linkSync(other, place);
      else writeFileSync(place, content.bytes, { mode: 0o600 });
      written.set(content, place);
    }
  }
}

interface Named {
  readonly naming: Naming;
  /** What got the name. */
  readonly content: Content | undefined;
  /** Folders whose names it changed. */
  readonly folders: readonly Content[];
}

/** What the operations were about: numbers of files are given again once a file is gone. */
class History {
  readonly changes: (readonly [Content, Change])[] = [];
  readonly namings: Named[] = [];
  readonly #base: Base;
  readonly #root = new Content(true);
  readonly #files = new Map<number, Content>();

  constructor(base: Base, operations: readonly Operation[]) {
    this.#base = base;
    this.#files.set(base.file, this.#root);
    for (const { file, bytes } of base.entries)
      if (!this.#files.has(file)) this.#files.set(file, new Content(bytes === undefined, bytes));
    this.#firstFiles = new Map(this.#files);
    const names = this.first();
    for (const operation of operations) this.#add(operation, names);
  }

  readonly #firstFiles: ReadonlyMap<number, Content>;

  /** The names before all operations. */
  first(): Names {
    const names = new Names(this.#root);
    for (const { path, file } of this.#base.entries) {
      const content = this.#firstFiles.get(file);
      if (content !== undefined) names.put(path, content);
    }
    return names;
  }

  #add(operation: Operation, names: Names): void {
    if (operation.kind === "write" || operation.kind === "truncate" || operation.kind === "sync") {
      const content = this.#files.get(operation.file);
      if (content === undefined) throw new Error(`the record of the disk has no file of number ${operation.file}`);
      if (operation.kind === "sync") content.synced = Math.max(content.synced, operation.before);
      else this.changes.push([content, operation]);
      return;
    }
    const made = operation.kind === "create" || operation.kind === "folder";
    const content = made ? new Content(operation.kind === "folder") : undefined;
    if (made && content !== undefined) this.#files.set(operation.file, content);
    const paths = "from" in operation ? [operation.from, operation.path] : [operation.path];
    const folders = paths.flatMap((path) => names.at(relative(this.#base.root, dirname(path))) ?? []);
    this.namings.push({ naming: operation, content, folders });
    rename(names, operation, this.#base.root, content);
  }
}

function rename(names: Names, naming: Naming, root: string, made: Content | undefined): void {
  const path = relative(root, naming.path);
  const content = "from" in naming ? names.at(relative(root, naming.from)) : made;
  if (naming.kind === "rename") names.remove(relative(root, naming.from));
  if (naming.kind === "remove") names.remove(path);
  else if (content !== undefined) names.put(path, content);
}

/** Returns whether all of it was done. */
function apply(content: Content, change: Change, survival: Survival): boolean {
  if (change.kind === "truncate") {
    const truncates = survival.truncates();
    if (truncates) content.truncate(change.size);
    return truncates;
  }
  let kept = 0;
  for (const [from, to] of survival.parts(change.data.length)) {
    content.write(change.at + from, change.data.subarray(from, to));
    kept += to - from;
  }
  return kept === change.data.length;
}
