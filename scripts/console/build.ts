/**
 * Builds the console into console/dist: `npm run console:build`. `--if-older`: only where it is absent or older than
 * what it is made of. `--serve`: a server for development, where a change of a file shows at once. Each file is
 * compressed once, here, and the service only sends it.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const root = join(import.meta.dirname, "../..");
const folder = join(root, "console");
const built = join(folder, "dist");

/** The page itself is made anew for each build, and small. */
const compressed = /\.(js|css|svg|json|html)$/;

function filesUnder(start: string): readonly string[] {
  return readdirSync(start, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

function newestOf(files: readonly string[]): number {
  return Math.max(...files.map((file) => statSync(file).mtimeMs));
}

/** Whether something of the console is newer than what was built of it. */
function isOlder(): boolean {
  const made = statSync(join(built, "index.html"), { throwIfNoEntry: false });
  if (made === undefined) return true;
  const sources = filesUnder(folder).filter((file) => !file.startsWith(built) && !file.endsWith(".test.ts"));
  return newestOf([...sources, join(root, "package-lock.json"), ...filesUnder(import.meta.dirname)]) > made.mtimeMs;
}

function compress(file: string): void {
  const bytes = readFileSync(file);
  writeFileSync(
    `${file}.br`,
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
  );
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
}

const configFile = join(folder, "vite.config.ts");
if (process.argv.includes("--serve")) {
  const { createServer } = await import("vite");
  const server = await createServer({ configFile });
  await server.listen();
  server.printUrls();
} else if (!process.argv.includes("--if-older") || isOlder()) {
  console.error("Building the console; this takes some seconds, once after an update ...");
  const { build } = await import("vite");
  await build({ configFile, logLevel: "warn" });
  for (const file of filesUnder(built)) if (compressed.test(file)) compress(file);
}
