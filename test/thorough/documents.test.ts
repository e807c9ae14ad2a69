import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { globSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { atEnd } from "../support/at-end.ts";
import { answersAs, type Block, blocksOf, Seen } from "../support/documents.ts";
import { anyPorts, dataFolder, end, type Places, placesOf } from "../support/service.ts";

const root = join(import.meta.dirname, "../..");

/** Blocks with the tag `no-run`, by their page and first line, and why they can't run here. */
const notRun: Readonly<Record<string, string>> = {
  "README.md: npm start": "it goes on until Ctrl-C; readme.test.ts plays it",
  "README.md: npm run demo": "it goes on until Ctrl-C; readme.test.ts plays it",
  "README.md: npm test": "each line takes minutes",
  "CONTRIBUTING.md: npm start": "some lines take minutes, others write into the checkout",
  "docs/alerts.md: waybeam alert follow": "it goes on until Ctrl-C",
  "docs/install.md: npm start": "it goes on until Ctrl-C; readme.test.ts plays it",
  "docs/install.md: cd /opt/waybeam": "it needs systemd, and changes the machine",
  "docs/install.md: WAYBEAM_DATA=/var/lib/waybeam /opt/waybeam/waybeam device list": "it needs that installation",
  "docs/install.md: docker build -t waybeam .": "it needs a container's runtime and its base image",
  'docs/operating.md: ln -s "$PWD/waybeam" ~/.local/bin/waybeam': "it writes into the home folder",
  "docs/network.md: WAYBEAM_HTTP_TLS_CERTIFICATE=/etc/letsencrypt/live/tracking.example/fullchain.pem":
    "it needs the certificate of a public name; tls.test.ts serves one of its own",
  "docs/network.md: WAYBEAM_HTTP_HOST=127.0.0.1 WAYBEAM_HTTP_TRUST_PROXY=loopback ./waybeam serve":
    "it goes on until Ctrl-C; limits.test.ts has a proxy",
  "docs/notices.md: waybeam recipient ask ops@example.com": "it needs a mail server; recipients.test.ts has one",
  "docs/postgresql.md: scp first:/var/lib/waybeam/secret.key first:/var/lib/waybeam/credentials.json /var/lib/waybeam/":
    "it needs two machines; postgres-serve.test.ts runs two processes",
  "docs/postgresql.md: systemctl stop waybeam":
    "it needs systemd and a database server; move-store-service.test.ts moves a store",
  "docs/restore.md: ./waybeam restore --replace ./monday": "it needs the service stopped; backup.test.ts restores",
  "docs/restore.md: waybeam backup --replace /backup/newest && restic backup /backup/newest":
    "it needs restic and its repository",
  "docs/restore.md: litestream replicate -config litestream.yml": "it needs Litestream and a place for its copies",
  "docs/upgrade.md: npm ci": "it changes the checkout",
  "docs/upgrade.md: ./waybeam restore --replace ./before-upgrade":
    "it needs the service stopped; backup.test.ts restores",
  "docs/storage.md: waybeam restore /backup/monday": "it needs the service stopped; backup.test.ts restores",
};

/** What a page takes for granted: a shell's commands, run before its first block. */
const before: Readonly<Record<string, string>> = {
  "docs/accounts.md": "waybeam device add 490154203237518",
  "docs/alerts.md": `waybeam device add 490154203237518
waybeam group add Trucks --device 490154203237518
echo '{"type":"Point","coordinates":[-74.0721,4.711],"radius":0.5}' >depot.geojson`,
  "docs/notices.md": `waybeam device add 490154203237518
waybeam rule add Speed --type speedOver --set kmh=80 --device 490154203237518 --email ops@example.com`,
  "docs/restore.md": "waybeam backup ./monday",
};

/** A shell that keeps its variables and functions from block to block, and ends at the first command that fails. */
class Shell {
  readonly #child: ChildProcessWithoutNullStreams;
  #out = "";
  #err = "";

  constructor(directory: string, environment: NodeJS.ProcessEnv) {
    this.#child = spawn("sh", ["-e"], { cwd: directory, env: environment });
    atEnd(() => end(this.#child, "SIGKILL"));
    this.#child.stdout.on("data", (chunk: Buffer) => {
      this.#out += chunk.toString();
    });
    this.#child.stderr.on("data", (chunk: Buffer) => {
      this.#err += chunk.toString();
    });
  }

  /** Runs commands; gives what they print. */
  async run(commands: string): Promise<string> {
    const done = `\n--- block ${Math.random()} is through\n`;
    this.#out = "";
    // Nothing that a block runs reads the commands that follow.
    this.#child.stdin.write(
      `{\n${commands}\n} </dev/null\nprintf '${done.replaceAll("\n", "\\n").replace("---", "\\055--")}'\n`,
    );
    while (!this.#out.endsWith(done)) {
      assert.equal(this.#child.exitCode, null, `a command failed:\n${commands}\n${this.#out}${this.#err}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return this.#out.slice(0, -done.length);
  }

  close(): Promise<number | null> {
    return end(this.#child, "SIGKILL");
  }
}

/** A fresh service in a folder that looks like a checkout, and a shell in that folder. */
async function served(): Promise<{ readonly places: Places; readonly shell: Shell; close(): Promise<void> }> {
  const directory = dataFolder();
  for (const name of ["waybeam", "docs"]) symlinkSync(join(root, name), join(directory, name));
  const { WAYBEAM_DATA: _, WAYBEAM_URL: __, ...inherited } = process.env;
  const environment = { ...inherited, PATH: `${directory}:${inherited.PATH}` };
  const service = spawn("./waybeam", ["serve"], {
    cwd: directory,
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...environment, ...anyPorts },
  });
  atEnd(() => end(service, "SIGKILL"));
  const places = await placesOf(service);
  const shell = new Shell(directory, environment);
  return {
    places,
    shell,
    close: async () => {
      await shell.close();
      await end(service);
    },
  };
}

const pages = ["README.md", "CONTRIBUTING.md", ...globSync("docs/*.md", { cwd: root }).toSorted()].map((page) => ({
  page,
  blocks: blocksOf(readFileSync(join(root, page), "utf8")),
}));
const nameOf = (page: string, { text }: Block) => `${page}: ${text.replace(/\s+#.*|\n.*/s, "")}`;

test("each block says what it is, and one that is not run has a reason", () => {
  const skipped = pages.flatMap(({ page, blocks }) =>
    blocks.filter(({ tag }) => tag === "no-run").map((block) => nameOf(page, block)),
  );
  assert.deepEqual(skipped.toSorted(), Object.keys(notRun).toSorted());
  for (const { page, blocks } of pages)
    for (const block of blocks) {
      assert.notEqual(block.language, "", nameOf(page, block));
      assert.ok(["", "no-run", "answer"].includes(block.tag), nameOf(page, block));
    }
});

test("what is shown as JSON is JSON", () => {
  for (const { blocks } of pages) for (const { language, text } of blocks) if (language === "json") JSON.parse(text);
});

for (const { page, blocks } of pages.filter(({ blocks: all }) => all.some(runs)))
  test(`${page}: its commands run, and answer as shown`, async () => {
    const { places, shell, close } = await served();
    const seen = new Seen();
    let answer = "";
    await shell.run(before[page] ?? ":");
    for (const block of blocks)
      if (runs(block)) answer = await shell.run(placed(block.text, places));
      else if (block.tag === "answer") answersAs(block, answer, seen);
    await close();
  });

function runs({ language, tag }: Block): boolean {
  return language === "sh" && tag === "";
}

/** Commands at the service's ports, and in the checkout instead of the machine's folders. */
function placed(text: string, { url, devicePort }: Places): string {
  return text
    .replaceAll("http://localhost:8080", url)
    .replaceAll("localhost:8888", `localhost:${devicePort}`)
    .replaceAll(" /backup/", " ./backup/");
}
