import type { Command } from "commander";
import { examples } from "../context.ts";
import { CliError } from "../exit.ts";
import type { Host } from "../host.ts";
import { inputLines } from "../input.ts";

interface DecodeOptions {
  readonly file: string;
  readonly protocol?: string;
  readonly device?: string;
  readonly model?: string;
  readonly format?: string;
  readonly transport?: "tcp" | "udp" | "http";
  readonly json?: boolean;
}

const format = `
Without arguments it reads JSON Lines, each one connection:
  {"protocol":"gt06","transport":"tcp","messages":["<hex>", ...]}
Each message is one frame (delimiter present or not); with "chunks":true they are pieces of the stream, cut anywhere. "device":"<id>": the
connection counts as identified. Without "protocol" it is detected. With "transport":"http" messages are whole HTTP requests. "options" are the
tags of the device that change how it is read: {"model":..., "format":..., "checksums":"ignore"}.
It prints one line per input: {"protocol":..., "effects":[[...], ...]}, one list of effects for each message.
A line that can't be used gives {"error":..., "line":<number from 1>} in its place; the exit code is then 2, after the last line.
`;

/** `waybeam decode`. Loads the protocols and nothing else of the service. */
export function addDecode(program: Command, host: Host): void {
  program
    .command("decode")
    .description("say what trackers' bytes mean; needs no running service")
    .argument("[hex...]", "bytes of one connection, to be described for people")
    .option("--file <file>", "JSON Lines from a file; - is standard input", "-")
    .option("--protocol <id>", "with hex: the protocol, where detection fails")
    .option("--transport <transport>", "with hex: tcp, udp or http")
    .option("--device <id>", "with hex: the connection's device is known")
    .option("--model <name>", "with hex: the tracker's model, where the protocol depends on it")
    .option("--format <text>", "with hex: how the tracker was configured to write, where its messages do not say it")
    .option("--json", "with hex: the line of JSON that JSON Lines give, instead of a text for people")
    .addHelpText("after", format)
    .addHelpText(
      "after",
      examples(
        "waybeam decode 78780d01012345678901234500018cdd0d0a",
        "waybeam decode --json 78780d01012345678901234500018cdd0d0a | jq .effects",
        "waybeam decode < captured.jsonl",
      ),
    )
    .action(async (hex: string[], options: DecodeOptions) => {
      if (hex.length > 0) await describe(host, hex.join(""), options);
      else await decode(host, options.file);
    });
}

async function decode({ terminal }: Host, file: string): Promise<void> {
  const { decodeLines } = await import("../decode.ts");
  const unused: number[] = [];
  let count = 0;
  const onLine = (number: number, used: boolean) => {
    count += 1;
    if (!used) unused.push(number);
  };
  for await (const line of decodeLines(inputLines(terminal, file), { onLine })) await terminal.out(`${line}\n`);
  const [first] = unused;
  if (first === undefined) return;
  const what = `${unused.length} of ${count === 1 ? "1 line" : `${count} lines`} could not be decoded`;
  throw new CliError("usage", `${what}, the first is line ${first}`);
}

async function describe({ terminal }: Host, hex: string, options: DecodeOptions): Promise<void> {
  const { decodeHex, describeHex } = await import("../describe.ts");
  const { decodedLine } = await import("../decode.ts");
  const { InputError } = await import("../decode-input.ts");
  const { file: _, json, ...known } = options;
  try {
    if (!json) return await terminal.out(describeHex(hex, known));
    const { protocol, messages, notes } = decodeHex(hex, known);
    await terminal.out(
      `${decodedLine(
        protocol,
        messages.map(({ effects }) => effects),
      )}\n`,
    );
    for (const note of notes) terminal.err(`${note}\n`);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new CliError("usage", error.message, "`waybeam decode --help` says what it takes.");
  }
}
