/** Number of a device in the store, never used again after its deletion. Safe integer, 64-bit column. */
export type DeviceKey = number;

/** A registered device. */
export interface Device {
  readonly key: DeviceKey;
  readonly accountKey: number;
  /** The identifier that the tracker reports (IMEI or other); unique service-wide. */
  readonly id: string;
  /** Other identifiers that it may report; unique service-wide among ids and aliases. */
  readonly aliases: readonly string[];
  readonly name: string;
  readonly description: string | null;
  /** Phone number of its SIM. */
  readonly min: string | null;
  readonly tags: { readonly [name: string]: string };
  /** Epoch ms from which its data is refused; null: never. */
  readonly expires: number | null;
  readonly dailyEmailLimit: number;
  readonly dailySmsLimit: number;
  /** Odometer start, km: what `milleage` counts from. */
  readonly odometerStart: number;
  readonly creation: number;
  readonly modification: number;
}

/** What of a device a caller may set. */
export type DeviceFields = Omit<Device, "key" | "accountKey" | "creation" | "modification">;

/** Identifiers of devices: 1 to 64 of letters, digits, `-`, `_`, `.`, `:`; not `.` or `..`, which URL clients take for steps of a path. */
export const deviceIdPattern = "^(?!\\.{1,2}$)[A-Za-z0-9._:-]{1,64}$";
