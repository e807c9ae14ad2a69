import type { Admitted } from "../ports/intake.ts";
import type { Claim } from "./doorkeeper.ts";
import type { Shared } from "./shared.ts";

/**
 * Remembers a message with a wrong checksum; it is shown with its device: the line has noise, or the maker never
 * learned to sum.
 */
export function countUnsummed(
  shared: Shared,
  { protocol, transport, address }: Omit<Claim, "ids" | "secret">,
  device: Admitted,
): void {
  const { id, accountKey } = device;
  shared.deps.quarantine.add({
    cause: "checksum",
    ids: [id],
    protocol: protocol.id,
    transport,
    address,
    device: { id, accountKey },
  });
}
