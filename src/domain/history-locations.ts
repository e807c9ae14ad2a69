import type { Location } from "../contract/location.ts";

const utf8 = new TextDecoder();

/** The locations of a piece of history: JSON objects with commas between. */
export function locationsIn(json: Uint8Array): readonly Location[] {
  return JSON.parse(`[${utf8.decode(json)}]`);
}

/**
 * Whether its position says where the device was: not where the tracker marks it as not valid, nor 0° north, 0° east.
 */
export function isPlaced({ latitude, longitude, attributes }: Pick<Location, "latitude" | "longitude" | "attributes">) {
  return attributes.valid !== "false" && !(latitude === 0 && longitude === 0);
}
