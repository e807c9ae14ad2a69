import { type SqlBool, sql } from "kysely";
import type { AlertState } from "../../model/alert.ts";

/** States of alerts by their number in the database. */
export const alertStates: readonly AlertState[] = ["open", "acknowledged", "closed"];
/** The number of those that are closed. */
export const closed = 2;

/** Open or acknowledged, in the words of the indexes of these. */
export const isOpen = sql<SqlBool>`alert.state < 2`;
/** In the words of the index of critical ones. */
export const isCritical = sql<SqlBool>`alert.critical = 1`;
