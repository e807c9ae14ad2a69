import type { Location } from "../../contract/location.ts";
import { LocalTimes } from "./local-times.ts";
import { unitIn, unitOf } from "./units.ts";
import { quantityIn, quantityOf } from "./values.ts";
import { type ExportTerms, type ExportWriter, endsEarly } from "./writer.ts";

/** Fields whose units the file tells. */
const told = ["speed", "milleage", "altitude", "temperature", "fuelVolume", "fuelRate", "fuelConsumption"] as const;

/**
 * A feature for each location by RFC 7946: what the API says of it, in the units that are asked for. Coordinates have
 * the altitude in metres.
 */
export function geojsonWriter({ device, from, to, timeZone, units }: ExportTerms): ExportWriter {
  const local = new LocalTimes(timeZone);
  let count = 0;

  function feature({ latitude, longitude, ...location }: Location): string {
    const attributes = Object.entries(location.attributes);
    const properties = {
      time: local.withOffset(Date.parse(location.dateTime)),
      ...Object.fromEntries(Object.entries(location).map(([name, value]) => [name, inUnits(name, value)])),
      attributes: Object.fromEntries(
        attributes.map(([name, value]) => [name, String(quantityOf(name, value, units).value)]),
      ),
    };
    const altitude = quantityIn(location.attributes.altitude ?? "");
    const coordinates = [longitude, latitude, ...(altitude === undefined ? [] : [altitude])];
    const start = count++ === 0 ? "" : ",\n";
    return start + JSON.stringify({ type: "Feature", geometry: { type: "Point", coordinates }, properties });
  }

  function inUnits(name: string, value: unknown): unknown {
    return typeof value === "number" ? quantityOf(name, value, units).value : value;
  }

  return {
    begin() {
      const range = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
      const named = Object.fromEntries(told.map((name) => [name, unitIn(unitOf(name) ?? "", units)]));
      const about = {
        device: { id: device.id, name: device.name },
        ...range,
        timeZone,
        units: { system: units, ...named },
      };
      return `{"type":"FeatureCollection",${JSON.stringify(about).slice(1, -1)},"features":[\n`;
    },
    locations: (some) => some.map(feature).join(""),
    end(early) {
      const end = { count, complete: early === undefined, ...(early && { note: endsEarly(early), next: early.from }) };
      return `\n],${JSON.stringify(end).slice(1, -1)}}\n`;
    },
  };
}
