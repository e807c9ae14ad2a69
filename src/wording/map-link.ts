/** The map of OpenStreetMap, with a marker. Short, for it is to go into an SMS. */
export const defaultMapLink = "https://www.openstreetmap.org/?mlat={latitude}&mlon={longitude}&zoom=16";

/** Why an address can't be that of a map; undefined: it can. */
export function problemOfMapLink(address: string): string | undefined {
  if (!address.includes("{latitude}") || !address.includes("{longitude}"))
    return "must have {latitude} and {longitude} where the position goes";
  const filled = mapLink(address, 0, 0);
  if (!URL.canParse(filled)) return "must be a URL";
  return ["http:", "https:"].includes(new URL(filled).protocol) ? undefined : "must begin with https:// or http://";
}

/** The address of a map that shows a position: `{latitude}` and `{longitude}` filled in. */
export function mapLink(address: string, latitude: number, longitude: number): string {
  return address.replaceAll("{latitude}", degrees(latitude)).replaceAll("{longitude}", degrees(longitude));
}

/** Six decimals: a tenth of a metre. */
export function degrees(value: number): string {
  return (Math.round(value * 1e6) / 1e6 + 0).toFixed(6);
}
