/** A location, as far as trips, stops and days are asked of it. */
export interface Point {
  /** Event time, epoch ms. */
  readonly time: number;
  readonly latitude: number;
  readonly longitude: number;
  /** Whether its position says where the device was: not where the tracker marks it as not valid, nor 0° north, 0° east. */
  readonly placed: boolean;
  /** km/h; absent where none was reported, or where the position is that of an earlier report. */
  readonly speed?: number;
  /** km, as history gives it. */
  readonly mileage: number;
  /** The device moved up to here: the fold of its history says so, which passes over positions that can't be true. */
  readonly moved: boolean;
  /** Absent where it was not reported. */
  readonly ignition?: boolean;
}

/** What of the API's Location a point is made of. */
export interface PointSource {
  readonly dateTime: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly speed?: number;
  readonly milleage?: number;
  readonly inactiveSeconds?: number;
  readonly attributes: { readonly [name: string]: string };
}

const utf8 = new TextDecoder();

/** The locations of a piece of history: JSON objects with commas between. */
export function locationsIn(json: Uint8Array): readonly PointSource[] {
  return JSON.parse(`[${utf8.decode(json)}]`);
}

/** The point of a location that the API gives. */
export function pointOf(location: PointSource): Point {
  const { dateTime, latitude, longitude, speed, milleage, inactiveSeconds, attributes } = location;
  const { ignition, positionTime, valid } = attributes;
  return {
    time: Date.parse(dateTime),
    latitude,
    longitude,
    placed: valid !== "false" && !(latitude === 0 && longitude === 0),
    ...(speed !== undefined && positionTime === undefined && { speed }),
    mileage: milleage ?? 0,
    moved: inactiveSeconds === 0,
    ...(ignition !== undefined && { ignition: ignition === "true" }),
  };
}
