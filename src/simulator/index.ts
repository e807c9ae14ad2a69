export { type Fleet, type FleetOptions, startFleet } from "./fleet.ts";
export { type FleetDevice, type FleetSize, fleetDevices } from "./identity.ts";
export type { FleetStats } from "./stats.ts";
export type { Story } from "./story.ts";
export { type StoryFleetOptions, startStory } from "./story-fleet.ts";
export { readStory } from "./story-input.ts";
export { untold } from "./story-teller.ts";
