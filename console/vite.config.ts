import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";
import { cities } from "../scripts/console/cities.ts";
import { icons } from "../scripts/console/icons.ts";
import { pagesFile } from "../scripts/console/pages-file.ts";

/** The service that `npm run console` asks. */
const service = process.env.WAYBEAM_URL ?? "http://localhost:8080";

export default defineConfig({
  root: import.meta.dirname,
  plugins: [svelte(), cities(), icons(), pagesFile()],
  json: { namedExports: false },
  worker: { format: "es" },
  build: {
    target: "es2023",
    // The policy of the page allows files of the service only: nothing is put into the page or into style sheets.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
    chunkSizeWarningLimit: 1200,
    // Whoever starts the service does not ask how long parts of the build took.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  server: { proxy: { "/api": service, "/openapi.json": service, "/health": service, "/console.json": service } },
});
