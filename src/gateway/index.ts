/** The owner of all device sockets. */
export { createGateway } from "./gateway.ts";
export { defaultLimits, type GatewayLimits } from "./limits.ts";
export type { BoundAddress, ConnectionFigures, Gateway, GatewayDeps, GatewayOptions } from "./types.ts";
