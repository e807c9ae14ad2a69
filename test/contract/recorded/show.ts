// ./scripts/node test/contract/recorded/show.ts PROTOCOL [readings] [UNIT SEQ]: the recorded lines that we decode
// otherwise, with the bytes, what was recorded and what we make of it.
import { effectJson } from "../../../src/model/effect-json.ts";
import { protocolById } from "../../../src/protocols/index.ts";
import { messageBytes } from "./line.ts";
import type { Verdict } from "./play.ts";
import { rowOf, tallyOf } from "./tally.ts";

function shown(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString("latin1");
  return /^[\x20-\x7e\r\n\t]*$/.test(text) ? `${JSON.stringify(text)}\n            ${bytes.toHex()}` : bytes.toHex();
}

function show({ line, differences, effects, readings, unsummed }: Verdict): string {
  const bytes = messageBytes(line);
  const parts = [
    `${line.unit} ${line.seq}: ${line.role}, ${line.kind}${unsummed ? ", wrong checksum" : ""}`,
    ...(differences ?? ["no counterpart"]).map((text) => `  differs   ${text}`),
    ...readings.differ.map((text) => `  reading   ${text}`),
    ...(bytes === undefined ? [] : [`  message   ${shown(bytes)}`]),
    ...(line.command === undefined ? [] : [`  command   ${JSON.stringify(line.command)}`]),
    ...(line.config === undefined ? [] : [`  config    ${JSON.stringify(line.config)}`]),
    ...(line.expected === null ? [] : [`  expected  ${JSON.stringify(line.expected)}`]),
    ...(line.decoded ?? []).map((entry) => `  recorded  ${JSON.stringify(entry)}`),
    ...(line.replies ?? []).map((reply) => `  replied   ${reply}`),
    ...effects.map((effect) => `  ours      ${JSON.stringify(effectJson(effect))}`),
  ];
  return `${parts.join("\n")}\n`;
}

const [id = "", ...asked] = process.argv.slice(2);
const protocol = protocolById(id);
const tally = protocol && tallyOf(protocol);
if (tally === undefined) {
  console.error(protocol ? "its files are not in the folder of vectors" : `no protocol "${id}"`);
  process.exit(2);
}
const [unit, seq] = asked[0] === "readings" ? [] : asked;
const chosen =
  unit !== undefined
    ? tally.verdicts.filter(({ line }) => line.unit.includes(unit) && (seq === undefined || String(line.seq) === seq))
    : asked[0] === "readings"
      ? tally.compared.filter(({ readings }) => readings.differ.length > 0)
      : tally.differ;
for (const verdict of chosen) console.log(show(verdict));
for (const { unit, seq } of tally.settled) console.log(`${unit} ${seq} is listed as known and does not differ`);
console.log(rowOf(id, tally));
