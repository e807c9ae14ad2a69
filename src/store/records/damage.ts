/** Stored bytes are not what records' bytes are: damaged, or of no version that this program knows. */
export class RecordsDamaged extends Error {
  override readonly name: string = "RecordsDamaged";
}
