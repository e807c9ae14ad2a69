import { effectJson } from "../model/effect-json.ts";
import type { Effect } from "../model/effects.ts";
import { protocols as allProtocols } from "../protocols/index.ts";
import type { AnyProtocol } from "../wire/protocol.ts";
import { decodeInputOf, InputError } from "./decode-input.ts";
import { decodeInput } from "./decode-run.ts";

/**
 * Arrival where neither the line nor the caller says one: the same everywhere, so that the same lines always decode to
 * the same.
 */
export const defaultReceivedAt: number = Date.UTC(2026, 0, 1);

/** What a caller may set. */
export interface DecodeSettings {
  /** Time of arrival of messages whose line has no `receivedAt`, epoch ms. */
  readonly receivedAt?: number;
  /** The protocols to choose from; every protocol unless tests say otherwise. */
  readonly protocols?: readonly AnyProtocol[];
  /** Told of each line: its number from 1, and whether it could be used. */
  readonly onLine?: (number: number, used: boolean) => void;
}

/**
 * `waybeam decode`: each line is one connection,
 * `{"protocol"?, "transport"?, "messages": ["<hex>" or {"text": "..."}], "chunks"?, "device"?, "options"?: {"model",
 * "format"}, "receivedAt"?}`. Each gives one line, `{"protocol": "<id>", "effects": [[...], ...]}`, a list of effects
 * for each message (or piece), as `effectJson` writes them. A line that can't be used gives `{"error": "...", "line":
 * <number from 1>}` in its place. Blank lines give nothing.
 */
export async function* decodeLines(
  lines: AsyncIterable<string>,
  settings: DecodeSettings = {},
): AsyncGenerator<string, void, undefined> {
  let number = 0;
  for await (const line of lines) {
    number++;
    if (line.trim() !== "") yield decodeLine(line, number, settings);
  }
}

function decodeLine(line: string, number: number, settings: DecodeSettings): string {
  try {
    const input = decodeInputOf(parse(line));
    const { protocol, effects } = decodeInput(
      settings.protocols ?? allProtocols,
      input,
      settings.receivedAt ?? defaultReceivedAt,
    );
    settings.onLine?.(number, true);
    return decodedLine(protocol, effects);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    settings.onLine?.(number, false);
    return JSON.stringify({ error: error.message, line: number });
  }
}

/** What a connection's messages say, as one line of JSON. */
export function decodedLine(protocol: AnyProtocol, effects: readonly (readonly Effect[])[]): string {
  return JSON.stringify({ protocol: protocol.id, effects: effects.map((list) => list.map(effectJson)) });
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new InputError(`not JSON: ${error instanceof Error ? error.message : error}`);
  }
}
