/** What an account may ask of those who say that they are its device. */
export type IdentityRule = "protocol" | "network" | "secret";

/**
 * Why a tracker that said who it is was not let in: no device has any of its identifiers; the device has expired; it
 * broke a rule of the device; or the checksum of what it sent as the device is wrong.
 */
export type KnockCause = "unknown" | "expired" | "checksum" | IdentityRule;
