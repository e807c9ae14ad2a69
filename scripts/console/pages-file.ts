import type { Plugin } from "vite";
import { pages } from "../../console/shell/pages.ts";

/** Writes `pages.json` beside the page: the paths that the service answers with it. */
export function pagesFile(): Plugin {
  return {
    name: "waybeam-pages",
    apply: "build",
    generateBundle() {
      this.emitFile({ type: "asset", fileName: "pages.json", source: JSON.stringify(Object.values(pages)) });
    },
  };
}
