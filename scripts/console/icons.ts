import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Plugin } from "vite";
import { iconNames } from "../../console/ui/icon-names.ts";

const id = "virtual:icons";

/** `virtual:icons`: the drawings of the icons that the console names, as elements and their attributes. */
export function icons(): Plugin {
  return {
    name: "waybeam-icons",
    resolveId: (source) => (source === id ? `\0${id}` : undefined),
    load(loaded) {
      if (loaded !== `\0${id}`) return undefined;
      const { resolve } = createRequire(import.meta.url);
      const drawings = iconNames.map((name) => {
        const svg = readFileSync(resolve(`lucide-static/icons/${name}.svg`), "utf8");
        return [name, elementsOf(svg.slice(svg.indexOf(">", svg.indexOf("<svg"))))];
      });
      return `export default ${JSON.stringify(Object.fromEntries(drawings))}`;
    },
  };
}

function elementsOf(content: string) {
  return [...content.matchAll(/<(\w+)\s([^>]*?)\/>/g)].map(([, tag, attributes = ""]) => [
    tag,
    Object.fromEntries([...attributes.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name, value]) => [name, value])),
  ]);
}
