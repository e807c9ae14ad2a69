import Type from "typebox";
import type { SpokenWay } from "../model/device.ts";
import type { KnockCause } from "../model/knock.ts";
import { success } from "./envelope.ts";
import { Instant, NullableInstant } from "./schema.ts";

const transports: readonly SpokenWay["transport"][] = ["tcp", "udp", "http"];
const causes: readonly KnockCause[] = ["expired", "protocol", "network", "secret", "checksum"];

const Way = {
  protocol: Type.String(),
  transport: Type.Unsafe<SpokenWay["transport"]>({ type: "string", enum: [...transports] }),
};

/** Answer of GET /api/devices/{deviceId}/identity. */
export const IdentityAnswer = success({
  identity: Type.Object({
    ways: Type.Array(
      Type.Object({
        ...Way,
        since: Instant({ description: "When it first came this way." }),
        address: Type.String({ description: "The address that it then came from." }),
        trustedSince: NullableInstant({
          description: "From then on commands may go this way; null: it is not trusted yet.",
        }),
        networks: Type.Array(
          Type.Object({
            network: Type.String({ description: "The first 16 bits of an IPv4 address, the first 32 of an IPv6 one." }),
            since: Instant({ description: "When it first came from there." }),
          }),
          { description: "The networks that it came from this way, each once, the newest last; the latest 8." },
        ),
      }),
      { description: "The ways by which it reported, in the order in which it first did." },
    ),
    lastSeen: Type.Union([Type.Object({ ...Way, address: Type.String(), dateTime: Instant() }), Type.Null()], {
      description: "How it came when it last said who it is; null: not since the service started.",
    }),
    refused: Type.Array(
      Type.Object({
        cause: Type.Unsafe<KnockCause>({
          type: "string",
          enum: [...causes],
          description:
            "Which of the device's rules was broken; or the device has expired; or the checksums of its messages are wrong (the tag `checksums` with the value `ignore` lets them in).",
        }),
        protocol: Type.String(),
        address: Type.String({ description: "Of the last attempt." }),
        firstSeen: Instant(),
        lastSeen: Instant(),
        attempts: Type.Integer(),
      }),
      { description: "Who said that it is this device and was refused, the last seen first." },
    ),
  }),
});
