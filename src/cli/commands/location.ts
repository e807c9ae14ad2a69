import { type Command, InvalidArgumentError } from "commander";
import type { ApiClient } from "../client.ts";
import { clientFor, examples } from "../context.ts";
import type { Host } from "../host.ts";
import { Progress } from "../progress.ts";
import { fromOption, type RangeOptions, rangeOf, toOption } from "../range.ts";
import { columns, isRecord, pairs, plain, records } from "../text.ts";

/** Positions in one answer: enough that requests do not count, little enough to be held in memory. */
const pageSize = 5000;

/** `waybeam last DEVICE`. */
export function addLast(program: Command, host: Host): void {
  program
    .command("last")
    .description("the last known location of a device")
    .argument("<device>", "the device's id")
    .option("--json", "JSON, as the API gives it; null where the device never reported")
    .addHelpText("after", examples("waybeam last 490154203237518", "waybeam last 490154203237518 --json | jq .speed"))
    .action(async (device: string, options: { json?: boolean }, command: Command) => {
      const client = await clientFor(host, command);
      const { lastLocation } = await client.device("GET", device, "/lastLocation");
      if (options.json) await host.terminal.out(`${JSON.stringify(lastLocation)}\n`);
      else if (isRecord(lastLocation)) await host.terminal.out(describe(lastLocation));
      else host.terminal.err(`${plain(device)} has never reported.\n`);
    });
}

function describe(location: Readonly<Record<string, unknown>>): string {
  const isEmpty = (value: unknown) =>
    value === "" || value === false || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
  return Object.entries(location)
    .filter(([, value]) => !isEmpty(value))
    .map(([name, value]) => `${columns([name, isRecord(value) ? pairs(value) : plain(value)], [15])}\n`)
    .join("");
}

interface HistoryOptions extends RangeOptions {
  readonly readings?: boolean;
  readonly limit?: number;
  readonly json?: boolean;
}

/** `waybeam history DEVICE`. */
export function addHistory(program: Command, host: Host): void {
  program
    .command("history")
    .description("all locations of a device in a time range, by time; or all that it reported")
    .argument("<device>", "the device's id")
    .addOption(fromOption())
    .addOption(toOption())
    .option("--limit <count>", "how many at most", parseLimit)
    .option("--readings", "all that it reported, without a position too: the history of a sensor without GPS")
    .option("--json", "JSON Lines, one location or reading each, as the API gives it")
    .addHelpText(
      "after",
      examples(
        "waybeam history 490154203237518",
        "waybeam history 490154203237518 --readings",
        "waybeam history 490154203237518 --from 2h",
        "waybeam history 490154203237518 --from 2026-11-01 --to 2026-11-30T23:59:59Z --json > november.jsonl",
      ),
    )
    .action(async (device: string, options: HistoryOptions, command: Command) => {
      const range = rangeOf(options, host.clock.now());
      await history(host, await clientFor(host, command), device, range, options);
    });
}

/** What is listed: the API's list, what one of it is called, and how a row shows it. */
interface Listing {
  readonly list: "locations" | "readings";
  readonly one: string;
  readonly head: readonly string[];
  readonly widths: readonly number[];
  readonly cells: (each: Readonly<Record<string, unknown>>) => readonly unknown[];
}

const locations: Listing = {
  list: "locations",
  one: "location",
  head: ["TIME", "LATITUDE", "LONGITUDE", "SPEED", "COURSE", "MILEAGE", "MORE"],
  widths: [24, 11, 12, 6, 6, 10],
  cells: (each) => [...positionCells(each), fixed(each.milleage, 2)],
};

const readings: Listing = {
  list: "readings",
  one: "reading",
  head: ["TIME", "LATITUDE", "LONGITUDE", "SPEED", "COURSE", "MORE"],
  widths: [24, 11, 12, 6, 6],
  cells: positionCells,
};

function positionCells({ dateTime, latitude, longitude, speed, course }: Readonly<Record<string, unknown>>) {
  return [dateTime, fixed(latitude, 6), fixed(longitude, 6), fixed(speed, 0), fixed(course, 0)];
}

async function history(
  host: Host,
  client: ApiClient,
  device: string,
  range: object,
  options: HistoryOptions,
): Promise<void> {
  const { terminal } = host;
  const { limit = Number.POSITIVE_INFINITY, json = false } = options;
  const listing = options.readings ? readings : locations;
  const { list, head, widths } = listing;
  const progress = new Progress(host);
  if (!json) await terminal.out(`${columns(head, widths)}\n`);
  let read = 0;
  let cursor: unknown;
  do {
    const page = { ...range, limit: Math.min(pageSize, limit - read), ...(cursor !== undefined && { cursor }) };
    const answer = await client.device("POST", device, `/${list}`, page);
    const found = records(answer[list]);
    read += found.length;
    cursor = answer.nextCursor;
    await terminal.out(found.map((each) => (json ? `${JSON.stringify(each)}\n` : row(each, listing))).join(""));
    if (json) progress.show(() => counted(read, listing));
  } while (typeof cursor === "string" && read < limit);
  progress.end();
  if (typeof cursor === "string") terminal.err(`${counted(read, listing)}, and there are more than --limit asks for\n`);
  else if (!json) terminal.err(`${counted(read, listing)}\n`);
}

function counted(count: number, { one }: Listing): string {
  return count === 1 ? `1 ${one}` : `${count} ${one}s`;
}

function row(each: Readonly<Record<string, unknown>>, { cells, widths }: Listing): string {
  return `${columns([...cells(each).map(plain), more(each)], widths)}\n`;
}

/** Readings with a name of their own, as a row shows them. */
const named = [
  ...["battery", "fuel", "fuel2", "temperature", "temperature2"],
  ...["sensorTime1", "sensorTime2", "sensorTime3", "sensorTime4", "rpm"],
];

/**
 * What a position came with, briefly: alarms first, inputs and outputs as digits, times of inputs where there are any.
 */
function more(location: Readonly<Record<string, unknown>>): string {
  const { hasCriticalAlert, accessoriesAttributes, attributes } = location;
  const list = (name: string, text: (each: unknown) => string, between: string) => {
    const value = location[name];
    return Array.isArray(value) && value.length > 0 ? `${name}=${value.map(text).join(between)}` : "";
  };
  const digit = (each: unknown) => (each === true ? "1" : "0");
  const shown = [
    list("alerts", plain, ","),
    list("warnings", plain, ","),
    hasCriticalAlert === true ? "critical" : "",
    ...named.map((name) => {
      const value = location[name];
      const none = typeof value !== "number" || (value === 0 && name.startsWith("sensorTime"));
      return none ? "" : `${name}=${value}`;
    }),
    list("inputs", digit, ""),
    list("outputs", digit, ""),
    ...records(accessoriesAttributes).map((each) => `${plain(each.accessoryType)}=${plain(each.accessoryStatus)}`),
    pairs(attributes),
  ];
  return shown.filter((text) => text !== "").join("; ");
}

function fixed(value: unknown, digits: number): string {
  return typeof value === "number" ? value.toFixed(digits) : "";
}

function parseLimit(text: string): number {
  if (/^[1-9]\d{0,11}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a positive integer.");
}
