type Ring = readonly GeoJSON.Position[];

/**
 * A country's shape for a flat map. On the globe a ring may cross the antimeridian: here its longitudes go on beyond
 * 180 degrees, where the map draws both ends of the world. A ring around a pole, as Antarctica's, does not close then,
 * and is led along the pole.
 */
export function unwrapped(geometry: GeoJSON.Geometry): GeoJSON.Geometry {
  if (geometry.type === "Polygon") return { ...geometry, coordinates: geometry.coordinates.map(unwrappedRing) };
  if (geometry.type !== "MultiPolygon") return geometry;
  return { ...geometry, coordinates: geometry.coordinates.map((rings) => rings.map(unwrappedRing)) };
}

function unwrappedRing(ring: Ring): GeoJSON.Position[] {
  let turns = 0;
  const going = ring.map(([x = 0, y = 0], index) => {
    const before = ring[index - 1]?.[0] ?? x;
    if (x - before > 180) turns -= 360;
    else if (before - x > 180) turns += 360;
    return [x + turns, y];
  });
  const [first, last] = [going[0], going.at(-1)];
  if (turns === 0 || first === undefined || last === undefined) return going;
  const pole = (first[1] ?? 0) < 0 ? -90 : 90;
  return [...going, [last[0] ?? 0, pole], [first[0] ?? 0, pole], first];
}
