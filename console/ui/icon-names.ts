/** Icons of the console, by their names in Lucide. */
export const iconNames = [
  "bell",
  "check",
  "chevron-left",
  "chevron-right",
  "circle-help",
  "crosshair",
  "download",
  "ellipsis-vertical",
  "hexagon",
  "layers",
  "list",
  "list-checks",
  "map",
  "pause",
  "play",
  "plus",
  "search",
  "send",
  "settings-2",
  "trash-2",
  "triangle-alert",
  "upload",
  "user",
  "x",
] as const;

/** Name of an icon. */
export type IconName = (typeof iconNames)[number];
