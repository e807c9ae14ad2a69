import type { Fault } from "../fault.ts";
import { backups } from "./backups.ts";
import { clocks } from "./clocks.ts";
import { damage } from "./damage.ts";
import { failingDisks } from "./failing-disk.ts";
import { fullDisks } from "./full-disk.ts";
import { kills } from "./kills.ts";
import { moves } from "./moves.ts";
import { pause } from "./pauses.ts";
import { onPostgres } from "./postgres.ts";
import { powerCuts } from "./power-cuts.ts";
import { replacedBackups } from "./replaced-backups.ts";
import { retention } from "./retention.ts";

/** All faults. */
export const faults: readonly Fault[] = [
  ...kills,
  retention,
  moves,
  backups,
  replacedBackups,
  pause,
  clocks,
  ...powerCuts,
  ...fullDisks,
  ...failingDisks,
  damage,
  ...onPostgres,
];
