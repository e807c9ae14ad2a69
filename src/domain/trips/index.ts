export { createTrips, type TripSettings, type Trips } from "./trips.ts";
