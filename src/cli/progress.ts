import type { Host, TellProgress } from "./host.ts";

/** Milliseconds between two lines: on a terminal one line is rewritten; elsewhere lines are sparse, as they stay. */
const onTty = 200;
const elsewhere = 10_000;

/** What progress is shown on. */
export interface ProgressHost extends Pick<Host, "clock"> {
  readonly terminal: Pick<Host["terminal"], "err" | "errIsTty" | "columns">;
}

/** Says on standard error how far something is that takes long. */
export class Progress {
  readonly #host: ProgressHost;
  #last: number;
  #shown = 0;

  constructor(host: ProgressHost) {
    this.#host = host;
    this.#last = host.clock.monotonic();
  }

  /** Shows the text where it is time to; `always` shows it anyway. */
  show(text: () => string, always = false): void {
    const { terminal, clock } = this.#host;
    const now = clock.monotonic();
    if (!always && now - this.#last < (terminal.errIsTty ? onTty : elsewhere)) return;
    this.#last = now;
    if (terminal.errIsTty) {
      const line = text().slice(0, terminal.columns - 1);
      terminal.err(`\r${line.padEnd(this.#shown)}`);
      this.#shown = line.length;
    } else terminal.err(`${text()}\n`);
  }

  /** Ends the rewritten line, so that other text can follow. */
  end(): void {
    if (this.#shown > 0) this.#host.terminal.err(`\r${" ".repeat(this.#shown)}\r`);
    this.#shown = 0;
  }
}

/** Does what takes long, and says how far it is. */
export async function withProgress<T>(host: Host, act: (progress: TellProgress) => Promise<T>): Promise<T> {
  const progress = new Progress(host);
  try {
    return await act((text) => progress.show(text));
  } finally {
    progress.end();
  }
}
