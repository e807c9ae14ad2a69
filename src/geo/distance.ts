/** Mean earth radius, km (IUGG: 6371.0088). */
export const earthRadiusKm = 6371.0088;
const radians = Math.PI / 180;

/** Great-circle distance in km between two WGS-84 positions in degrees, by the haversine formula on the mean sphere. */
export function distanceKm(latitude1: number, longitude1: number, latitude2: number, longitude2: number): number {
  const sinLatitude = Math.sin(((latitude2 - latitude1) * radians) / 2);
  const sinLongitude = Math.sin(((longitude2 - longitude1) * radians) / 2);
  const square =
    sinLatitude * sinLatitude +
    Math.cos(latitude1 * radians) * Math.cos(latitude2 * radians) * sinLongitude * sinLongitude;
  return 2 * earthRadiusKm * Math.asin(Math.min(1, Math.sqrt(square)));
}
