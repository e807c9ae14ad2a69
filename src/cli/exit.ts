/** How the program ends. Numbers are part of its interface: never used for another meaning. */
export const exitCodes = {
  ok: { code: 0, meaning: "done" },
  failure: { code: 1, meaning: "something failed that none of the others names" },
  usage: {
    code: 2,
    meaning:
      "bad arguments, bad configuration, or input that can't be used: the service does not accept it, `decode` can't read a line",
  },
  notFound: { code: 3, meaning: "the device, or what else was named, does not exist" },
  denied: { code: 4, meaning: "no credentials, wrong ones, or no permission" },
  unreachable: { code: 5, meaning: "the service can't be reached" },
  conflict: { code: 6, meaning: "it is there already, or no licence is free" },
  busy: { code: 7, meaning: "the service is busy, down for the moment, or a limit is reached: try again later" },
  inUse: {
    code: 8,
    meaning:
      "`serve`, `restore`, `move-store`, `secret rotate`: the data folder, the database or a port is in use by another process",
  },
  interrupted: { code: 130, meaning: "ended by Ctrl-C before it was done, or by a second one" },
} as const;

/** Name of a way to end. */
export type ExitName = keyof typeof exitCodes;

/** A failure that the user is told of: what is wrong, and what to do next. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exit: ExitName;
  /** What to do next. */
  readonly hint: string | undefined;

  constructor(exit: ExitName, message: string, hint?: string) {
    super(message);
    this.exit = exit;
    this.hint = hint;
  }
}

/** What standard error says of a failure. */
export function describeFailure(error: unknown): string {
  if (error instanceof CliError) return `waybeam: ${error.message}\n${error.hint ? `  ${error.hint}\n` : ""}`;
  return `waybeam: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`;
}
