import { DeviceAnswer, DevicePath, DeviceReplacement, DoneAnswer, IdReplacement } from "../../contract/device.ts";
import { PatchRequest } from "../../contract/patch.ts";
import { deviceView } from "../../domain/device-fields.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { checkerOf } from "../check.ts";
import { answer, callerOf } from "../envelope.ts";
import type { Services } from "../services.ts";

const path = "/api/devices/:deviceId";

/** GET, PUT, PATCH and DELETE /api/devices/{deviceId}, and POST /api/devices/{deviceId}/changeId. */
export function deviceRoutes(app: App, services: Services): void {
  readRoute(app, services);
  replaceRoute(app, services);
  patchRoute(app, services);
  changeIdRoute(app, services);
  removeRoute(app, services);
}

function readRoute(app: App, { devices }: Services): void {
  app.get(
    path,
    call({
      operationId: "readDevice",
      record: true,
      tag: "Devices",
      summary: "Read a device",
      description: "Expired ones too.",
      permission: "see",
      input: { params: DevicePath },
      ok: { 200: DeviceAnswer },
      errors: ["deviceNotFound"],
    }),
    async (request) => {
      const caller = callerOf(request);
      const device = await devices.find(caller.user, request.params.deviceId);
      return answer(caller, { device: deviceView(device) });
    },
  );
}

function replaceRoute(app: App, { devices }: Services): void {
  app.put(
    path,
    call({
      operationId: "replaceDevice",
      record: true,
      tag: "Devices",
      summary: "Replace a device's fields",
      description: "What the body leaves out is reset. The e-mail and SMS limits stay as they are.",
      permission: "write",
      input: { params: DevicePath, body: DeviceReplacement },
      ok: { 200: DeviceAnswer },
      errors: ["deviceNotFound", "deviceExists", "noLicense", "aliasNotAllowed", "identifierLimit"],
    }),
    async (request) => {
      const caller = callerOf(request);
      const { device, warnings } = await devices.replace(caller.user, request.params.deviceId, request.body);
      return answer(caller, { device: deviceView(device) }, warnings);
    },
  );
}

function patchRoute(app: App, { devices }: Services): void {
  app.patch(
    path,
    call({
      operationId: "patchDevice",
      record: true,
      tag: "Devices",
      summary: "Change some of a device's fields",
      description: "A JSON Patch (RFC 6902), all of it or nothing; its result is checked like the body of a PUT.",
      permission: "write",
      input: { params: DevicePath, body: PatchRequest },
      ok: { 200: DeviceAnswer },
      invalid: "invalidPatch",
      errors: ["deviceNotFound", "deviceExists", "noLicense", "aliasNotAllowed", "identifierLimit", "patchTestFailed"],
    }),
    async (request) => {
      const caller = callerOf(request);
      const check = checkerOf(request, DeviceReplacement);
      const { device, warnings } = await devices.patch(caller.user, request.params.deviceId, request.body, check);
      return answer(caller, { device: deviceView(device) }, warnings);
    },
  );
}

function changeIdRoute(app: App, { devices }: Services): void {
  app.post(
    `${path}/changeId`,
    call({
      operationId: "changeDeviceId",
      record: true,
      tag: "Devices",
      summary: "Give a device another id",
      description:
        "For a vehicle that gets a new tracker. The history, alerts, commands and counters stay, and groups, users and alert rules that name the device name it by the new id. The caller needs the right to register a device with the new id. The old id is free afterwards: its tracker is unknown.",
      permission: "write",
      input: { params: DevicePath, body: IdReplacement },
      ok: { 200: DeviceAnswer },
      errors: ["deviceNotFound", "deviceExists", "identifierLimit"],
    }),
    async (request) => {
      const caller = callerOf(request);
      const { device, warnings } = await devices.changeId(caller.user, request.params.deviceId, request.body);
      return answer(caller, { device: deviceView(device) }, warnings);
    },
  );
}

function removeRoute(app: App, { devices }: Services): void {
  app.delete(
    path,
    call({
      operationId: "deleteDevice",
      tag: "Devices",
      summary: "Delete a device and its history",
      permission: "write",
      input: { params: DevicePath },
      ok: { 200: DoneAnswer },
      errors: ["deviceNotFound", "unsupportedMediaType"],
    }),
    async (request) => {
      const caller = callerOf(request);
      return answer(caller, {}, await devices.remove(caller.user, request.params.deviceId));
    },
  );
}
