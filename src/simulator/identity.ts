import type { AnyProtocol } from "../wire/protocol.ts";
import { hashText } from "./random.ts";
import { cities } from "./road.ts";

/** A device of a simulated fleet, as it is to be registered. */
export interface FleetDevice {
  readonly id: string;
  readonly name: string;
  readonly protocol: AnyProtocol;
  readonly tags: { readonly [name: string]: string };
}

/** What says which devices a fleet has: the same answers give the same devices. */
export interface FleetSize {
  readonly devices: number;
  readonly protocols: readonly AnyProtocol[];
  readonly seed: string;
}

/** The devices of a fleet; protocols and cities take turns. */
export function fleetDevices({ devices, protocols, seed }: FleetSize): readonly FleetDevice[] {
  return Array.from({ length: devices }, (_, index) => {
    const protocol = protocols[index % protocols.length];
    if (!protocol) throw new Error("a fleet needs a protocol");
    const city = cityOf(index, protocols.length);
    return {
      id: identifier(seed, index),
      name: `Simulated ${index + 1} (${protocol.id}, ${city.name})`,
      protocol,
      tags: { simulated: "true", city: city.name },
    };
  });
}

/** The city that a device drives about. */
export function cityOf(index: number, protocols: number) {
  const city = cities[Math.floor(index / protocols) % cities.length];
  if (!city) throw new Error("there is no city");
  return city;
}

/**
 * An identifier of 15 digits with the check digit of an IMEI. It starts with 99, which no tracker's IMEI does
 * (3GPP TS 23.003 section 6.2: the first digits name the body that gave the type its number), then six digits of the
 * seed and six of the index.
 */
export function identifier(seed: string, index: number): string {
  const body = `99${digits(hashText(seed))}${digits(index)}`;
  let sum = 0;
  for (let at = 0; at < body.length; at++) {
    const digit = Number(body[at]) * (at % 2 === 1 ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return `${body}${(10 - (sum % 10)) % 10}`;
}

function digits(number: number): string {
  return String(number % 1_000_000).padStart(6, "0");
}
