import type { Fault } from "../fault.ts";
import { backups } from "./backups.ts";
import { damage } from "./damage.ts";
import { failingDisks } from "./failing-disk.ts";
import { fullDisks } from "./full-disk.ts";
import { kills } from "./kills.ts";
import { pause } from "./pauses.ts";

/** All faults. */
export const faults: readonly Fault[] = [...kills, backups, pause, ...fullDisks, ...failingDisks, damage];
