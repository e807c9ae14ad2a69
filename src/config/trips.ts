import Type from "typebox";
import { integer } from "./kinds.ts";

/** What makes a trip, where a request does not say. */
export const trips = Type.Object({
  stopSeconds: integer(300, {
    env: "WAYBEAM_TRIPS_STOP_SECONDS",
    minimum: 10,
    maximum: 86_400,
    unit: "s",
    description:
      "A device that stands for so long has ended its trip: longer than at a traffic light or a level crossing, shorter than a delivery.",
  }),
  gapSeconds: integer(3600, {
    env: "WAYBEAM_TRIPS_GAP_SECONDS",
    minimum: 60,
    maximum: 604_800,
    unit: "s",
    description:
      "A device that moves and is then silent for so long has ended its trip: longer than a tunnel or a ferry, or than trackers that report seldom wait.",
  }),
  leastMetres: integer(200, {
    env: "WAYBEAM_TRIPS_LEAST_METRES",
    minimum: 0,
    maximum: 100_000,
    unit: "m",
    description: "A shorter way is no trip: a vehicle that is moved within a yard stays where it stands.",
  }),
});
