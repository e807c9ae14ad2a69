import pino from "pino";
import type { Log } from "../ports/log.ts";
import { readableLine } from "./log-line.ts";

/** How much is written: `debug` is the most, `silent` nothing. */
export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/**
 * What takes the finished lines; standard output is one. `done` is called with an error where the line could not be
 * written.
 */
export interface LogOutput {
  readonly isTTY?: boolean;
  write(line: string, done: (error?: Error | null) => void): unknown;
}

/** Members that must never be read in a log, wherever a caller happens to put them. */
const secretNames = [
  "password",
  "apiKey",
  "apiKeyHash",
  "token",
  "accessToken",
  "authorization",
  "cookie",
  "secret",
  "passwordHash",
];
const redactedPaths = [
  ...secretNames,
  ...secretNames.map((name) => `*.${name}`),
  ...secretNames.map((name) => `*.*.${name}`),
];

/**
 * The log of the process: JSON lines (`time` as RFC 3339, `level` by name, `message`, then the fields), or short
 * readable lines where the output is a terminal. An `error` field that is an Error is written with its type, message
 * and stack. `onLost` is called for each line that can't be written: on a full disk, or where the reader is gone. Each
 * line is tried, so the log goes on when it can.
 */
export function createLog(level: LogLevel, output: LogOutput = process.stdout, onLost: () => void = () => {}): Log {
  const done = (error?: Error | null) => {
    if (error) onLost();
  };
  const asRead = output.isTTY === true ? readableLine : (line: string) => line;
  const destination = { write: (line: string) => void output.write(asRead(line), done) };
  return pino(
    {
      level,
      base: null,
      messageKey: "message",
      errorKey: "error",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: redactedPaths, censor: "[redacted]" },
    },
    destination,
  );
}
