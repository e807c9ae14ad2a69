import Type from "typebox";
import { optionalText } from "./kinds.ts";

/** Where Prometheus gets the metrics. With neither setting nobody does: they tell how a service is used. */
export const metrics = Type.Object({
  listen: optionalText({
    env: "WAYBEAM_METRICS_LISTEN",
    maxLength: 300,
    pattern: "^$|^(\\[[0-9A-Fa-f:.]+\\]|[^\\s:\\[\\]]+):[0-9]{1,5}$",
    example: "an address and a port like 127.0.0.1:9464 or [::1]:9464",
    description:
      "Address and port of their own where GET /metrics is answered, for a network that strangers can't reach. Empty: none.",
  }),
  token: optionalText({
    env: "WAYBEAM_METRICS_TOKEN",
    maxLength: 256,
    pattern: "^([!-~]{32,})?$",
    example: "32 to 256 characters without blanks, or nothing",
    secret: true,
    description:
      "Token that GET /metrics asks for (Authorization: Bearer). With it they are on the REST API's port, or, where metrics.listen is set, only there.",
  }),
});
