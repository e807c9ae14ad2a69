import type { Fault } from "../fault.ts";
import { kills } from "./kills.ts";

/** All faults. */
export const faults: readonly Fault[] = [...kills];
