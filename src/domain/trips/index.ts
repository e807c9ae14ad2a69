export { createTrips, mostOfAnswer, type TripSettings, type Trips } from "./trips.ts";
