/** What a connection's login has told. */
export interface Session {
  /** Zone that the tracker is set to, ms east of UTC; absent where the login had none, or could not be read. */
  readonly zone?: number;
  /** Its login had neither serial number nor checksum, so its status messages have none. */
  readonly bare?: true;
}

/** A connection before its login. */
export const initial: Session = Object.freeze({});

/** The first of the messages whose date the manuals give in UTC. */
const firstUtc = 0x22;

/**
 * Milliseconds to take from the date of a message of this number, for UTC.
 *
 * Of the location, cell and alarm messages from 0x22 on the manuals say that they are in UTC (JM-VL03 v1.1.2, in the
 * names of 0x22 and 0x26), of the older ones, 0x10 to 0x1A, that they hold the tracker's date: local time, in the zone
 * that its login names (GT06 manual: GMT+8 unless set by `GMT,E,8#`). So the login and the number alone decide: the
 * same bytes after the same login are the same report, whenever they arrive and whatever came before. A tracker that
 * names a zone and sends UTC nevertheless is to be set to zone 0.
 *
 * All recorded messages agree; one of them is a location behind a login whose checksum is wrong, so that no zone is
 * known.
 */
export function clockOffset(session: Session, type: number): number {
  return type < firstUtc ? (session.zone ?? 0) : 0;
}
