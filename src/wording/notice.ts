import type { Alert } from "../model/alert.ts";
import { alertText, wordsOf } from "./alert-text.ts";
import { degrees, mapLink } from "./map-link.ts";
import { shortened } from "./shorten.ts";
import { type Reader, showFor } from "./show.ts";
import { fillTemplate, longestFilled, type TemplateValues } from "./template.ts";

/** What a notice tells. */
export interface Told {
  readonly alert: Omit<Alert, "text" | "device">;
  readonly device: { readonly id: string; readonly name: string };
  /** The rule's own text, its placeholders not filled in; null: the service's. */
  readonly template: string | null;
  /** Mileage at the alert, km; absent: it isn't known. */
  readonly mileage?: number;
  /** Address of a map, see `mapLink`; absent: no map is linked. */
  readonly map?: string;
}

/**
 * What an alert says to a reader: the rule's own text, filled in, or the service's. That something is over is always
 * told in the service's words, since the rule's say that it is so.
 */
export function toldText(told: Told, reader: Reader): string {
  return told.template === null || told.alert.phase === "over"
    ? shortened(alertText(told.alert, reader), longestFilled)
    : fillTemplate(told.template, templateValues(told, reader));
}

/** The address of a map that shows where it happened; undefined: there is no position, or no map. */
export function toldMap({ alert: { latitude, longitude }, map }: Told): string | undefined {
  return latitude === null || longitude === null || map === undefined ? undefined : mapLink(map, latitude, longitude);
}

/** What the placeholders stand for, to a reader. */
export function templateValues(told: Told, reader: Reader): TemplateValues {
  const { alert, device, mileage } = told;
  const show = showFor(reader);
  const zone = Object.hasOwn(alert.facts, "zone") ? alert.facts.zone : undefined;
  return {
    DeviceName: device.name,
    DeviceId: device.id,
    AlertName: alert.name,
    AlertType: wordsOf(reader.language).alerts[alert.type].title,
    AlertText: alertText(alert, reader),
    AlertDate: show.moment(alert.time),
    Zone: zone === undefined ? "" : String(zone),
    Latitude: alert.latitude === null ? "" : degrees(alert.latitude),
    Longitude: alert.longitude === null ? "" : degrees(alert.longitude),
    Speed: alert.speed === null ? "" : show.measure("speed", alert.speed),
    Mileage: mileage === undefined ? "" : show.measure("distance", mileage),
    MapLink: toldMap(told) ?? "",
  };
}
