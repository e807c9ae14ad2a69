import { type Place, placeOf } from "./router.ts";

let current = $state.raw<Place>(placeOf(location.pathname, location.search));

/** Where the person is. */
export function place(): Place {
  return current;
}

/** Goes to an address of the console. `replace`: without an entry in the history, as for a filter that is typed. */
export function go(address: string, { replace = false } = {}): void {
  history[replace ? "replaceState" : "pushState"](null, "", address);
  read();
  if (!replace) scrollTo(0, 0);
}

function read(): void {
  current = placeOf(location.pathname, location.search);
}

/** Follows the history, and takes clicks on links to other pages of the console. */
export function followLinks(): void {
  addEventListener("popstate", read);
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!(link instanceof HTMLAnchorElement) || link.target !== "" || link.hasAttribute("download")) return;
    if (link.origin !== location.origin || placeOf(link.pathname, "").page === "unknown") return;
    event.preventDefault();
    go(link.pathname + link.search + link.hash);
  });
}
