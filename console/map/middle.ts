/** The middle of an area's largest part, and how large that is (square degrees): where its one name stands. */
export function middleOf(
  geometry: GeoJSON.Geometry,
): { readonly place: [number, number]; readonly area: number } | undefined {
  const rings =
    geometry.type === "Polygon"
      ? [geometry.coordinates[0] ?? []]
      : geometry.type === "MultiPolygon"
        ? geometry.coordinates.map(([outer]) => outer ?? [])
        : [];
  const sizes = rings.map((ring) => ({ ring, area: Math.abs(centroid(ring).area) }));
  const largest = sizes.toSorted((left, right) => right.area - left.area)[0];
  if (largest === undefined || largest.area === 0) return undefined;
  const { x, y } = centroid(largest.ring);
  return { place: [x, y], area: largest.area };
}

function centroid(ring: readonly GeoJSON.Position[]) {
  let area = 0;
  let x = 0;
  let y = 0;
  for (let each = 0; each + 1 < ring.length; each += 1) {
    const [x0 = 0, y0 = 0] = ring[each] ?? [];
    const [x1 = 0, y1 = 0] = ring[each + 1] ?? [];
    const cross = x0 * y1 - x1 * y0;
    area += cross / 2;
    x += (x0 + x1) * cross;
    y += (y0 + y1) * cross;
  }
  return { area, x: x / (6 * area), y: y / (6 * area) };
}
