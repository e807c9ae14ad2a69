import type { SmsSettings } from "../../src/notify/index.ts";

/** Settings of a gateway that speaks SMPP on this machine. */
export const smppSettings = (port: number): SmsSettings => ({
  ...{ kind: "smpp", timeoutSeconds: 5, maxParts: 6 },
  smpp: {
    ...{ host: "127.0.0.1", port, tls: "off", systemId: "us", password: "", systemType: "", source: "" },
    ...{ window: 10, enquireSeconds: 30 },
  },
  http: {
    ...{ method: "POST", url: "", headers: "", format: "json", body: "", binaryUrl: "", binaryBody: "", secret: "" },
    ...{ success: "200-299", idPath: "", idPattern: "", allowPrivate: "off" },
  },
});
