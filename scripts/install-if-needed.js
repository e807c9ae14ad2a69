/**
 * Runs `npm ci` where packages of package-lock.json are not in node_modules: after a clone, and after the lock file changed. Any Node.js from 20 on runs it.
 * `--with-dev`: the packages that only development needs count, too.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

const root = new URL("..", import.meta.url);

/** The packages that a lock file lists, by their place. npm writes one into node_modules at the end of each installation. */
function packagesOf(lockFile) {
  return JSON.parse(readFileSync(new URL(lockFile, root), "utf8")).packages;
}

function installed() {
  try {
    return packagesOf("node_modules/.package-lock.json");
  } catch {
    return undefined;
  }
}

/** Whether what is installed differs from what is asked for. A package that may be absent (`optional`: for other processors) counts where it is there. */
function differs(asked, found, withDev) {
  return Object.entries(asked).some(([place, { dev, optional, integrity }]) => {
    const absent = found[place] === undefined;
    if (place === "" || (absent && optional) || (dev && !withDev)) return false;
    return absent || found[place].integrity !== integrity;
  });
}

const found = installed();
const why =
  found === undefined
    ? "The packages are not installed yet"
    : differs(packagesOf("package-lock.json"), found, process.argv.includes("--with-dev"))
      ? "package-lock.json has changed"
      : undefined;
if (why !== undefined) {
  console.error(`${why}: running npm ci ...`);
  const { status, error } = spawnSync("npm", ["ci"], { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  if (error !== undefined) console.error(`npm could not be started: ${error.message}`);
  process.exitCode = status ?? 1;
}
