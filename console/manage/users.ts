import type { components } from "../api/schema.ts";

/** A user as the service shows it: never with a password. */
export type User = Omit<components["schemas"]["User"], "password">;
