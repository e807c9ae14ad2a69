import type { Story } from "../simulator/index.ts";
import type { ApiClient } from "./client.ts";
import { CliError } from "./exit.ts";
import { summarize, watchFleet } from "./fleet-watch.ts";
import type { Host } from "./host.ts";
import { inputJson } from "./input.ts";
import { registerDevices } from "./register.ts";
import { plain } from "./text.ts";

/** Devices that are named one by one before a story begins. */
const mostNamed = 20;

/** How a story is played. */
export interface ScenarioOptions {
  readonly scenario: string;
  readonly speedUp: number;
  readonly seed: string;
  readonly deviceHost: string;
  readonly devicePort: number;
  readonly connects: number;
  readonly json?: boolean;
}

/** Reads a story from a file. Throws a CliError that names everything that is wrong with it. */
export async function loadStory({ terminal }: Host, file: string): Promise<Story> {
  const { readStory } = await import("../simulator/index.ts");
  const { protocols } = await import("../protocols/index.ts");
  const name = file === "-" ? "standard input" : plain(file);
  const read = readStory(
    await inputJson(terminal, file),
    protocols.filter(({ simulate }) => simulate !== undefined),
  );
  if ("story" in read) return read.story;
  const problems = read.problems.map((problem) => `\n  ${plain(problem)}`).join("");
  throw new CliError("usage", `${name} can't be played:${problems}`, "docs/simulator.md says what a story is made of.");
}

/** Plays a story over real sockets, and says what became of its reports. */
export async function playScenario(
  host: Host,
  client: ApiClient,
  story: Story,
  options: ScenarioOptions,
): Promise<void> {
  const { startStory, untold } = await import("../simulator/index.ts");
  const { terminal, clock } = host;
  for (const note of untold(story)) terminal.err(`note: ${plain(note)}\n`);
  const started = clock.monotonic();
  const { json, devicePort, deviceHost } = options;
  const fleet = await startStory({
    story,
    speedUp: options.speedUp,
    seed: options.seed,
    host: deviceHost,
    port: devicePort,
    connectsPerSecond: options.connects,
    clock,
    register: (devices) => registerDevices(host, client, devices),
  });
  for (const { id, name } of fleet.devices.slice(0, mostNamed)) terminal.err(`${plain(name)} is the device ${id}\n`);
  const span = { begin: new Date(fleet.begin).toISOString(), end: new Date(fleet.end).toISOString() };
  terminal.err(`"${plain(story.title)}" plays from ${span.begin} to ${span.end}\n`);
  const stats = await watchFleet(host, fleet);
  const more = { scenario: story.title, ...span, deviceIds: fleet.devices.map(({ id }) => id) };
  await summarize(host, stats, started, { json, deviceHost, devicePort, more });
}
