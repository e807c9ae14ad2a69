import type { Map as LibreMap } from "maplibre-gl";
import {
  type GeoJSONStoreFeatures,
  TerraDraw,
  TerraDrawCircleMode,
  TerraDrawLineStringMode,
  TerraDrawPolygonMode,
  TerraDrawRectangleMode,
  TerraDrawSelectMode,
} from "terra-draw";
import { TerraDrawMapLibreGLAdapter } from "terra-draw-maplibre-gl-adapter";
import type { Drawn, Shape } from "./drawn.ts";

/** The drawing of one zone on a map. */
export interface Drawing {
  /** Begins a shape; what was drawn before goes. */
  begin(shape: Shape): void;
  /** Shows a zone that can be changed. */
  show(drawn: Drawn): void;
  stop(): void;
}

const vertices = {
  feature: {
    draggable: true,
    coordinates: { midpoints: true, draggable: true, deletable: true },
  },
};

/** Draws on a map, and tells each change. */
export function startDrawing(map: LibreMap, changed: (drawn: Drawn | undefined) => void): Drawing {
  const select = new TerraDrawSelectMode({
    flags: {
      polygon: vertices,
      linestring: vertices,
      rectangle: vertices,
      circle: { feature: { draggable: true, coordinates: { resizable: "center" } } },
    },
  });
  const draw = new TerraDraw({
    adapter: new TerraDrawMapLibreGLAdapter({ map }),
    modes: [
      select,
      new TerraDrawPolygonMode(),
      new TerraDrawRectangleMode(),
      new TerraDrawCircleMode(),
      new TerraDrawLineStringMode(),
    ],
  });
  draw.start();
  draw.setMode("select");
  const tell = () => changed(drawnIn(draw.getSnapshot()));
  draw.on("finish", (id) => {
    draw.setMode("select");
    draw.selectFeature(id);
    tell();
  });
  draw.on("change", (_ids, type) => {
    if (type === "update") tell();
  });
  return {
    begin(shape) {
      draw.clear();
      changed(undefined);
      draw.setMode(shape);
    },
    show(drawn) {
      const [result] = draw.addFeatures([{ type: "Feature", ...drawn } as GeoJSONStoreFeatures]);
      if (result?.valid && result.id !== undefined) draw.selectFeature(result.id);
    },
    stop: () => draw.stop(),
  };
}

/** The zone among what the drawing holds: handles and middles are points. */
function drawnIn(features: readonly GeoJSONStoreFeatures[]): Drawn | undefined {
  return features.find(({ geometry }) => geometry.type !== "Point");
}
