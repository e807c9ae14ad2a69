declare module "virtual:cities" {
  /** Name, longitude, latitude; the largest first. */
  const cities: readonly (readonly [string, number, number])[];
  export default cities;
}

declare module "virtual:icons" {
  const icons: Readonly<Record<string, readonly (readonly [string, Readonly<Record<string, string>>])[]>>;
  export default icons;
}

declare module "*.svelte" {
  import type { Component } from "svelte";

  const component: Component;
  export default component;
}
