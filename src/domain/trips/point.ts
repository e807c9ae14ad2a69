import type { Location } from "../../contract/location.ts";
import { isPlaced } from "../history-locations.ts";

/** A location, as far as trips, stops and days are asked of it. */
export interface Point {
  /** Event time, epoch ms. */
  readonly time: number;
  readonly latitude: number;
  readonly longitude: number;
  /**
   * Whether its position says where the device was: not where the tracker marks it as not valid, nor 0° north, 0° east.
   */
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

/** The point of a location that the API gives. */
export function pointOf(location: Location): Point {
  const { dateTime, latitude, longitude, speed, milleage, inactiveSeconds, attributes } = location;
  const { ignition, positionTime } = attributes;
  return {
    time: Date.parse(dateTime),
    latitude,
    longitude,
    placed: isPlaced(location),
    ...(speed !== undefined && positionTime === undefined && { speed }),
    mileage: milleage ?? 0,
    moved: inactiveSeconds === 0,
    ...(ignition !== undefined && { ignition: ignition === "true" }),
  };
}
