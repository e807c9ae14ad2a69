import type { Migration } from "./migration.ts";

/** From here on the store seals its secrets (src/store/secrets), row by row after this. No table changes: the number alone keeps programs out that can't read them. */
export const secrets: Migration = { name: "secrets", up: async () => {} };
