import type { Command } from "commander";
import { type Answer, about } from "../client.ts";
import { clientFor, examples } from "../context.ts";
import { CliError } from "../exit.ts";
import type { Host } from "../host.ts";
import { inputJson } from "../input.ts";
import { listAll } from "../pages.ts";
import { payloadOf, printLines, tellAdded, tellWarnings } from "../print.ts";
import { isRecord, plain, records, table } from "../text.ts";
import { findZones, zonePath, zonesPath } from "../zones.ts";

/** `waybeam zone ...`: the zones that rules name. */
export function addZone(program: Command, host: Host): void {
  const zone = program.command("zone").description("list, make and remove zones (geofences), which rules name");
  addList(zone, host);
  addAdd(zone, host);
  addRemove(zone, host);
}

function addList(zone: Command, host: Host): void {
  zone
    .command("list")
    .description("list the zones of the account")
    .option("--json", "JSON Lines, one zone each, as the API gives it")
    .addHelpText("after", examples("waybeam zone list", "waybeam zone list --json | jq .geometry"))
    .action(async (options: { json?: boolean }, command: Command) => {
      const client = await clientFor(host, command);
      const zones = await listAll(client, zonesPath, "geofences");
      if (options.json) return await printLines(host, zones);
      const rows = zones.map(({ id, name, geometry, description }) =>
        [id, name, shapeOf(geometry), description].map(plain),
      );
      await host.terminal.out(table(["ID", "NAME", "SHAPE", "DESCRIPTION"], rows));
      if (rows.length === 0) host.terminal.err("There is no zone yet: `waybeam zone add NAME` makes one.\n");
    });
}

function shapeOf(geometry: unknown): string {
  const { type, radius, width, coordinates }: Answer = isRecord(geometry) ? geometry : {};
  if (type === "Point") return `circle of ${plain(radius)} km`;
  if (type === "LineString") return `route, ${plain(width)} km wide`;
  const [ring] = Array.isArray(coordinates) ? coordinates : [];
  return `polygon of ${Array.isArray(ring) ? ring.length - 1 : 0} corners`;
}

interface AddOptions {
  readonly file: string;
  readonly description?: string;
  readonly radius?: number;
  readonly width?: number;
  readonly json?: boolean;
}

function addAdd(zone: Command, host: Host): void {
  zone
    .command("add")
    .description("make zones of a GeoJSON file")
    .argument(
      "[name]",
      "the zone's name; without it the `name` among the properties of the file's Feature or of each of its Features",
    )
    .requiredOption(
      "--file <file>",
      "GeoJSON: Point, Polygon, LineString, a Feature or a FeatureCollection of them; - is standard input",
    )
    .option("--description <text>", "description")
    .option("--radius <km>", "radius of a Point, where the file does not say", Number)
    .option("--width <km>", "whole width of a LineString, where the file does not say", Number)
    .option("--json", "JSON Lines, one made zone each, as the API gives it")
    .addHelpText(
      "after",
      examples(
        'waybeam zone add "Depot" --file depot.geojson',
        `echo '{"type":"Point","coordinates":[-74.0721,4.711]}' | waybeam zone add Depot --radius 0.5 --file -`,
        "waybeam zone add --file zones.geojson",
      ),
    )
    .action((name: string | undefined, options: AddOptions, command: Command) => add(host, name, options, command));
}

async function add(host: Host, name: string | undefined, options: AddOptions, command: Command): Promise<void> {
  const zones = zonesOf(await inputJson(host.terminal, options.file), name, options);
  const client = await clientFor(host, command);
  for (const zone of zones) {
    const made = await about(zone.name, client.call("POST", zonesPath, zone));
    tellWarnings(host, made);
    await tellAdded(host, payloadOf(made), options.json);
  }
}

interface NewZone {
  readonly name: string;
  readonly description?: string;
  readonly geometry: unknown;
}

/** The zones of a GeoJSON text. All have a name before the first is made. */
function zonesOf(value: unknown, name: string | undefined, options: AddOptions): readonly NewZone[] {
  const { description, radius, width, file } = options;
  const many = isRecord(value) && value.type === "FeatureCollection";
  const features = many ? records(value.features) : isRecord(value) ? [value] : [];
  if (features.length === 0) throw new CliError("usage", `${plain(file)} holds no GeoJSON object`);
  if (many && name !== undefined)
    throw new CliError("usage", "a name is for one zone, and the file holds a collection");
  return features.map((feature, index) => {
    const properties: Answer = isRecord(feature.properties) ? feature.properties : {};
    const called = name ?? properties.name;
    if (typeof called !== "string")
      throw new CliError(
        "usage",
        `feature ${index + 1} of ${plain(file)} has no name`,
        "Give one, or set properties.name.",
      );
    const given = isRecord(feature.geometry) ? { ...properties, ...feature.geometry } : feature;
    const { type, coordinates, radius: ownRadius = radius, width: ownWidth = width } = given;
    const sizes = { ...(type === "Point" && { radius: ownRadius }), ...(type === "LineString" && { width: ownWidth }) };
    const text = description ?? properties.description;
    return {
      name: called,
      ...(typeof text === "string" && { description: text }),
      geometry: { type, coordinates, ...sizes },
    };
  });
}

function addRemove(zone: Command, host: Host): void {
  zone
    .command("remove")
    .description("remove zones; rules that name them say so and fire no more for them")
    .argument("<zone...>", "ids or names")
    .addHelpText("after", examples("waybeam zone remove Depot"))
    .action(async (given: string[], _options: object, command: Command) => {
      const client = await clientFor(host, command);
      for (const found of await findZones(client, given)) {
        await client.call("DELETE", zonePath(found));
        host.terminal.err(`removed ${plain(found.name)}\n`);
      }
    });
}
