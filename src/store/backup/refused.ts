/** A backup, a restore or a check can't be done. Nothing was changed; `advice` says what to do next. */
export class BackupRefused extends Error {
  override readonly name = "BackupRefused";
  readonly advice: string;

  constructor(message: string, advice: string, cause?: unknown) {
    super(message, { cause });
    this.advice = advice;
  }
}

/** What is to be backed up is damaged. */
export function livesDamaged(finding: {
  readonly device: string | undefined;
  readonly problem: string;
}): BackupRefused {
  const { device, problem } = finding;
  return new BackupRefused(
    `the database is damaged${device === undefined ? "" : ` (device ${device})`}: ${problem}`,
    'Run `waybeam check` to see all of it. docs/storage.md, "Backup, restore, check", says how to go on.',
  );
}

/** What takes long tells how far it is, and ends early where somebody asks for it. */
export interface LongWork {
  /** Aborted: give up, and leave nothing half behind. */
  readonly signal: AbortSignal;
  progress(text: () => string): void;
}

const busy = 5;
const damaged = [11, 26];
const full = 13;

/**
 * What a failure while a database was copied or read means to the operator; defects stay what they are. `where`: the
 * folder that is written. `look`: how to see what is damaged.
 */
export function workFailure(
  error: unknown,
  where: string,
  look = "Run `waybeam check` to see what is damaged. ",
): unknown {
  if (!(error instanceof Error) || error instanceof BackupRefused) return error;
  const code = "errcode" in error ? Number(error.errcode) & 0xff : undefined;
  const system = "code" in error ? String(error.code) : "";
  if (code === full || system === "ENOSPC" || system === "EDQUOT")
    return new BackupRefused(
      `the disk of ${where} is full; what was written there is deleted again`,
      "Free some space, or choose a folder on another disk.",
      error,
    );
  if (code !== undefined && damaged.includes(code))
    return new BackupRefused(
      `the database is damaged (${error.message})`,
      `${look}docs/storage.md, "Backup, restore, check", says how to go on.`,
      error,
    );
  if (code === busy)
    return new BackupRefused("another program has locked the database", "End that program and try again.", error);
  if (code !== undefined && system === "ERR_SQLITE_ERROR")
    return new BackupRefused(
      `can't read or write a database: ${error.message}`,
      `Look at ${where} and its disk.`,
      error,
    );
  if (/^E[A-Z]+$/.test(system))
    return new BackupRefused(
      error.message,
      "Name a folder, and let the user that runs this command read and write it.",
      error,
    );
  return error;
}
