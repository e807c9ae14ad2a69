export { type Fleet, type FleetOptions, startFleet } from "./fleet.ts";
export { type FleetDevice, type FleetSize, fleetDevices } from "./identity.ts";
export type { FleetStats } from "./stats.ts";
