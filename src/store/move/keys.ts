import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { isThere } from "../backup/files.ts";
import { holdsKeys } from "../backup/keys.ts";
import { names } from "../backup/manifest.ts";
import { giveToOwner } from "../backup/owner.ts";
import { SecretKeyUnusable } from "../secrets/key-file.ts";
import { replacePrivate } from "../sqlite/private-files.ts";
import { MoveRefused } from "./refused.ts";

/** Where the keys of both stores are. A PostgreSQL database has its keys in a data folder, too. */
export interface KeyPlaces {
  /** The data folder that has the keys of the source. */
  readonly from: string;
  /** The one that has those of the target. */
  readonly to: string;
  /** The file of the secret key, if the configuration names one: of both. */
  readonly secretFile: string;
}

/**
 * Throws `SecretKeyUnusable` where the keys of the source are not where its service has them, `MoveRefused` where the
 * target has others.
 */
export function checkKeys({ from, to, secretFile }: KeyPlaces, ids: readonly string[]): void {
  const own = secretFile === "" ? join(from, names.key) : secretFile;
  if (!holdsKeys(own, ids))
    throw new SecretKeyUnusable(
      `the secret key ${own} is missing, or is not the one by which the data is sealed`,
      "Set WAYBEAM_SECRET_FILE to it, and WAYBEAM_DATA to the data folder of the service. Nothing was changed.",
    );
  if (secretFile !== "" || isSame(from, to)) return;
  const key = join(to, names.key);
  if (isThere(key) && !holdsKeys(key, ids))
    throw new MoveRefused(`${key} is the key of another service`, "Choose another folder, or move that file away.");
}

/** Puts the keys of the source where the service on the target looks for them. Files that are there stay. */
export function copyKeys({ from, to, secretFile }: KeyPlaces): void {
  if (isSame(from, to)) return;
  for (const name of secretFile === "" ? [names.key, names.credentials] : [names.credentials]) {
    const [own, made] = [join(from, name), join(to, name)];
    if (!isThere(own) || isThere(made)) continue;
    replacePrivate(made, readFileSync(own, "utf8"));
    giveToOwner(to, [made]);
  }
}

function isSame(one: string, other: string): boolean {
  return one === other || (isThere(one) && isThere(other) && realpathSync(one) === realpathSync(other));
}
