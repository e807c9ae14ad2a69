import type { Zone } from "../model/geofence.ts";
import { PreparedArea } from "./area.ts";
import { PreparedCircle } from "./circle.ts";
import { PreparedCorridor } from "./corridor.ts";
import type { PreparedZone } from "./prepared.ts";

export type { PreparedZone } from "./prepared.ts";

/** Makes a zone ready. It must be one that `zoneOfGeoJson` accepts. */
export function prepareZone(zone: Zone): PreparedZone {
  switch (zone.kind) {
    case "circle":
      return new PreparedCircle(zone);
    case "polygon":
      return new PreparedArea(zone);
    case "route":
      return new PreparedCorridor(zone);
  }
}
