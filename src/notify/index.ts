export { createOutbound, type Outbound, type OutboundCall, type OutboundOptions } from "./outbound.ts";
export { createSmsSender, type SmsDeps, type SmsSettings } from "./sms.ts";
