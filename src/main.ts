/**
 * The program's entry: arguments, environment, signals, exit code. Everything else it loads only when it is needed, so
 * that it starts fast.
 */
import type { BackupContent, ConfigView, Host, Service, Terminal } from "./cli/host.ts";
import type { LoadedConfig } from "./config/index.ts";
import type { Manifest } from "./store/backup/index.ts";

const { keepTicksFast } = await import("./observe/ticks.ts");
void keepTicksFast();
const { existsSync } = await import("node:fs");
const { readFile } = await import("node:fs/promises");
const { join } = await import("node:path");
const { CliError, describeFailure, exitCodes } = await import("./cli/exit.ts");
const { run } = await import("./cli/run.ts");
const { systemClock } = await import("./observe/clock.ts");
const { version } = await import("./model/version.ts");

/** Whether a service runs in this process. It outlives the readers of what it says, and a full disk. */
let serves = false;

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (serves) return;
  // Nobody reads on (`waybeam history X | head`).
  if (error.code === "EPIPE") process.exit(exitCodes.ok.code);
  terminal.err(describeFailure(new CliError("failure", `can't write the output (${error.code})`)));
  process.exit(exitCodes.failure.code);
});
// There is nobody left to tell, and what was asked for is still done.
process.stderr.on("error", () => {});

/** Under npm one Ctrl-C arrives twice, from the terminal and from npm; two within this time are one, ms. */
const sameSignal = 1000;

const interrupt = new AbortController();
let interruptedAt = 0;
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    if (!interrupt.signal.aborted) interruptedAt = systemClock.monotonic();
    else if (systemClock.monotonic() - interruptedAt > sameSignal) process.exit(exitCodes.interrupted.code);
    interrupt.abort();
  });

const terminal: Terminal = {
  input: process.stdin,
  out: (text) =>
    new Promise((resolve) => {
      // Called also where the text can't be written, which stdout's listener deals with.
      process.stdout.write(text, () => resolve());
    }),
  err: (text) => void process.stderr.write(text),
  outIsTty: process.stdout.isTTY === true,
  errIsTty: process.stderr.isTTY === true,
  columns: process.stderr.columns || process.stdout.columns || 120,
};

/** Reads the configuration's file, if there is one, and makes the configuration. */
async function load(configFile: string | undefined, data?: string): Promise<LoadedConfig> {
  const { describeProblems, loadConfig } = await import("./config/index.ts");
  const named = configFile ?? (process.env.WAYBEAM_CONFIG || undefined);
  const name = named ?? "waybeam.json";
  const text = await readFile(name, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (named === undefined && error.code === "ENOENT") return undefined;
    throw new CliError("usage", `can't read the configuration file ${name} (${error.code})`);
  });
  const loaded = loadConfig({
    env: data === undefined ? process.env : { ...process.env, WAYBEAM_DATA: data },
    ...(text !== undefined && { file: { name, text } }),
  });
  if ("config" in loaded) return loaded;
  const lines = describeProblems(loaded.problems).trimEnd().replaceAll("\n", "\n  ");
  throw new CliError("usage", `the configuration is wrong:\n  ${lines}`, "`waybeam config --help` tells more.");
}

async function readConfig(configFile: string | undefined): Promise<ConfigView> {
  const loaded = await load(configFile);
  const { describeConfig } = await import("./config/index.ts");
  return { data: loaded.config.data, settings: describeConfig(loaded) };
}

async function rotateSecret(configFile: string | undefined): Promise<string> {
  const { config } = await load(configFile);
  const app = await import("./app.ts");
  try {
    return await app.rotateSecret(config, process.pid);
  } catch (error) {
    throw await startFailure(error, config.data);
  }
}

/**
 * Runs a program that works on a data folder beside the service. `ofFolder`: it works on the configured folder, so the
 * configured store must be the embedded one.
 */
async function onData<T>(
  configFile: string | undefined,
  act: (
    config: LoadedConfig["config"],
    tools: typeof import("./store/backup/index.ts"),
    secretFile: string,
  ) => Promise<T>,
  ofFolder = true,
): Promise<T> {
  const { config } = await load(configFile);
  if (ofFolder && config.store.url !== "")
    throw new CliError(
      "usage",
      "this command is for the embedded store, but the setting store.url names a PostgreSQL database",
      "Use PostgreSQL's own tools: pg_dump and pg_restore, or continuous archiving; pg_amcheck looks for damage. Keep secret.key of the data folder with each backup.",
    );
  const { secretFile } = await import("./config/index.ts");
  const tools = await import("./store/backup/index.ts");
  tools.giveWay();
  try {
    return await act(config, tools, secretFile(config));
  } catch (error) {
    throw await startFailure(error, config.data);
  }
}

function contentOf({ made, devices, positions, files }: Manifest): BackupContent {
  const bytes = Object.values(files).reduce((sum, file) => sum + file.bytes, 0);
  return { made, devices, positions, bytes };
}

async function startService(configFile: string | undefined, data?: string): Promise<Service> {
  const loaded = await load(configFile, data);
  // Whoever names a data folder means the store in it.
  const config = data === undefined ? loaded.config : { ...loaded.config, store: { ...loaded.config.store, url: "" } };
  if (config.store.url === "" && !existsSync(join(config.data, "waybeam.db")))
    terminal.err(`Making the database in ${config.data} ...\n`);
  const { startApp } = await import("./app.ts");
  serves = true;
  try {
    const app = await startApp(config, process.pid);
    const failed = app.failed.catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw new CliError("failure", `the service ends: ${why}`, "Start it again: it then reads everything anew.");
    });
    // Not every caller waits for it: without this, its rejection would end the process.
    failed.catch(() => undefined);
    return { ...app, failed };
  } catch (error) {
    throw await startFailure(error, config.data);
  }
}

const unreleasedAdvice = "Name an empty folder by WAYBEAM_DATA, or an empty database by WAYBEAM_STORE_URL.";
const tooNewAdvice = "Update the program, or choose another folder by WAYBEAM_DATA.";

const halfMovedAdvice =
  "Run `waybeam move-store` again with the same --from and --to: it begins anew. Or go on with the store that it copies, by WAYBEAM_STORE_URL and WAYBEAM_DATA.";

/**
 * Why the service or a program on its data can't start, where that is for the user to mend; a defect stays what it is.
 */
async function startFailure(failure: unknown, data: string): Promise<unknown> {
  const { DataFolderUnusable, dataFolderAdvice, openFailure } = await import("./store/sqlite/folder.ts");
  // Once the store is open, the service reads more of it.
  const error = openFailure(failure, data, "waybeam.db");
  const { DataFolderInUse } = await import("./store/sqlite/lock.ts");
  const { StoreHalfMoved, StoreTooNew, StoreUnreleased } = await import("./store/migrations/migrations.ts");
  const { MoveRefused } = await import("./store/move/refused.ts");
  const { BackupRefused } = await import("./store/backup/refused.ts");
  if (error instanceof BackupRefused) return new CliError("failure", error.message, error.advice);
  if (error instanceof Error && error.name === "CertificateUnusable")
    return new CliError("failure", error.message, "Give the files of a certificate and its own key, as PEM.");
  if (error instanceof Error && error.name === "PortsUnusable")
    return new CliError("failure", error.message, "docs/generated/protocols.md lists the names of all protocols.");
  const { DatabaseInUse, DatabaseUnusable } = await import("./store/postgres/unusable.ts");
  if (error instanceof DatabaseUnusable) {
    const lines = error.message.replaceAll("\n", "\n  ");
    return new CliError(error instanceof DatabaseInUse ? "inUse" : "failure", `can't use the database:\n  ${lines}`);
  }
  const { SecretKeyUnusable } = await import("./store/secrets/key-file.ts");
  if (error instanceof SecretKeyUnusable)
    return new CliError("failure", `can't open the data folder ${data}: ${error.message}`, error.advice);
  if (error instanceof DataFolderUnusable) return new CliError("failure", error.message, error.advice);
  if (error instanceof DataFolderInUse) return new CliError("inUse", error.message);
  if (error instanceof MoveRefused) return new CliError("failure", error.message, error.advice);
  if (error instanceof StoreHalfMoved)
    return new CliError("failure", `can't use the data: ${error.message}`, halfMovedAdvice);
  if (error instanceof StoreUnreleased)
    return new CliError("failure", `can't use the data folder ${data}: ${error.message}`, unreleasedAdvice);
  if (error instanceof StoreTooNew)
    return new CliError("failure", `can't use the data folder ${data}: ${error.message}`, tooNewAdvice);
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (!(error instanceof Error) || typeof code !== "string" || !/^E[A-Z]+$/.test(code)) return error;
  if (code === "EADDRINUSE") {
    const { address, port } = Object(error);
    const message = `another process uses port ${port} of ${address}`;
    return new CliError(
      "inUse",
      message,
      "End it, or set WAYBEAM_HTTP_PORT, WAYBEAM_DEVICE_PORT or WAYBEAM_DEVICE_PORTS.",
    );
  }
  if ("path" in error)
    return new CliError("failure", `can't use the data folder ${data}: ${error.message}`, dataFolderAdvice);
  return new CliError("failure", error.message, "`waybeam config` shows the addresses in force.");
}

const host: Host = {
  terminal,
  env: process.env,
  clock: systemClock,
  interrupted: interrupt.signal,
  version,
  readConfig,
  startService,
  rotateSecret,
  backup: (configFile, wish, progress) =>
    onData(configFile, async ({ data: directory }, { makeBackup }, secretFile) => {
      const by = { program: version, pid: process.pid, now: systemClock.now() };
      const work = { signal: interrupt.signal, progress };
      const { manifest, ...made } = await makeBackup({ directory, secretFile, ...wish, ...by }, work);
      return { ...made, ...contentOf(manifest), secretFile };
    }),
  restore: (configFile, wish, progress) =>
    onData(configFile, async ({ data: directory }, { restore }, secretFile) => {
      const work = { signal: interrupt.signal, progress };
      const { manifest, replaced } = await restore({ directory, secretFile, ...wish, pid: process.pid }, work);
      return { data: directory, ...contentOf(manifest), replaced };
    }),
  check: (configFile, backup, progress) =>
    onData(
      configFile,
      async ({ data }, { check }, ofData) => {
        const [directory, secretFile] = backup === undefined ? [data, ofData] : [backup, undefined];
        const work = { signal: interrupt.signal, progress };
        return { folder: directory, ...(await check({ directory, secretFile, pid: process.pid }, work)) };
      },
      backup === undefined,
    ),
  moveStore: async (configFile, { from, ...wish }, progress) => {
    const { config } = await load(configFile);
    const { data, store, secret } = config;
    const { moveStore } = await import("./store/move/move.ts");
    const { createLog } = await import("./observe/index.ts");
    const options = { ...wish, from: from ?? (store.url || data), data, secretFile: secret.file };
    try {
      return await moveStore(
        { ...options, log: createLog("error"), pid: process.pid },
        { signal: interrupt.signal, progress },
      );
    } catch (error) {
      throw await startFailure(error, data);
    }
  },
};

try {
  process.exitCode = await run(process.argv.slice(2), host);
} catch (error) {
  terminal.err(describeFailure(error));
  process.exitCode = exitCodes.failure.code;
}
