import { readingNames } from "./readings.ts";

/**
 * Names that no attribute of a report has: those of the readings, which stand beside attributes, and those under which
 * the service itself adds what it knows of a location. A protocol that passes on a sender's own names gives these
 * another one.
 */
export const reservedAttributes: ReadonlySet<string> = new Set([
  ...readingNames,
  "altitude",
  "valid",
  "alarms",
  "positionTime",
  "receivedAt",
]);
