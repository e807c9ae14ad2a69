import { join } from "node:path";
import type { Config } from "./schema.ts";

/** Where the key of the secrets is. */
export function secretFile({ data, secret }: Pick<Config, "data" | "secret">): string {
  return secret.file === "" ? join(data, "secret.key") : secret.file;
}
