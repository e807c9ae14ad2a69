import type { components } from "../api/schema.ts";
import { fieldOf, momentOrNull } from "../history/range.ts";
import { type TagRow, tagRows, tagsOf } from "./tags.ts";

type Device = components["schemas"]["Device"];
type Fields = components["schemas"]["DeviceReplacement"];

/** A device as a form has it: texts. */
export interface DeviceDraft {
  id: string;
  name: string;
  description: string;
  min: string;
  tags: TagRow[];
  /** In the person's zone; "": never. */
  expires: string;
  aliases: string;
  milleageStart: string | number | null;
  protocols: string[];
  networks: string;
  positionDays: string | number | null;
  timeOffset: string | number | null;
  speedUnit: string;
  /** "": as it is. */
  secret: string;
  noSecret: boolean;
}

/** What the form begins with. `given`: id of a new device. */
export function draftOf(device: Device | undefined, given: string, timeZone: string): DeviceDraft {
  return {
    ...{ id: device?.id ?? given, name: device?.name ?? "", description: device?.description ?? "" },
    ...{ min: device?.min ?? "", tags: tagRows(device?.tags ?? {}), expires: fieldOf(device?.expires, timeZone) },
    ...{ aliases: device?.aliases.join(", ") ?? "", milleageStart: device?.milleageStart ?? 0 },
    ...{ protocols: [...(device?.protocols ?? [])], networks: device?.networks.join(", ") ?? "" },
    ...{ positionDays: device?.positionDays ?? "", timeOffset: device?.timeOffset ?? 0 },
    ...{ speedUnit: device?.speedUnit ?? "", secret: "", noSecret: false },
  };
}

/** What the form means for the service. `before`: when the device expires until now. */
export function fieldsOf(draft: DeviceDraft, before: string | null, timeZone: string): Fields {
  const fields = {
    ...{ name: orNull(draft.name), description: orNull(draft.description), min: orNull(draft.min) },
    ...{ tags: tagsOf(draft.tags), aliases: listOf(draft.aliases), networks: listOf(draft.networks) },
    ...{ milleageStart: numberOf(draft.milleageStart), positionDays: numberOf(draft.positionDays) },
    ...{ timeOffset: numberOf(draft.timeOffset), protocols: draft.protocols, speedUnit: orNull(draft.speedUnit) },
    expires: momentOrNull(draft.expires, before, timeZone),
    ...(draft.noSecret ? { secret: null } : draft.secret !== "" && { secret: draft.secret }),
  };
  // Protocols and units are chosen of those that the service's own document names.
  return fields as Fields;
}

function orNull(text: string): string | null {
  return text.trim() || null;
}
function listOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((part) => part !== "");
}
function numberOf(value: string | number | null): number | null {
  return value === null || value === "" ? null : Number(value);
}
