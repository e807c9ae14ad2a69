import { setting } from "../me/settings.svelte.ts";
import { go } from "./place.svelte.ts";

/** Keys of a page: what they do by the key's name. */
export type PageKeys = Readonly<Record<string, () => void>>;

/** Where `g` and a letter go. */
const ways: Readonly<Record<string, string>> = {
  m: "/map",
  a: "/alerts",
  z: "/zones",
  r: "/rules",
  d: "/manage/devices",
  s: "/me",
};

let ofPage: PageKeys = {};
let list = $state(false);

/** Whether the list of keys is shown. */
export const keyList = {
  get shown() {
    return list;
  },
  set shown(value: boolean) {
    list = value;
  },
};

/** The keys of the page that is shown; call it in an effect. */
export function usePageKeys(keys: PageKeys): () => void {
  ofPage = keys;
  return () => {
    if (ofPage === keys) ofPage = {};
  };
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** Listens to keys of the whole console until the answer is called. */
export function listenToKeys(): () => void {
  let afterG = false;
  const listen = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
    if (!setting("letterKeys") && event.key !== "Escape") return;
    if (document.querySelector("[role=dialog], [role=alertdialog], [role=menu]")) return;
    const way = afterG ? ways[event.key] : undefined;
    afterG = event.key === "g";
    const act = way === undefined ? (event.key === "?" ? () => (list = true) : ofPage[event.key]) : () => go(way);
    // Space and Enter on a button are the button's.
    if (act === undefined || ([" ", "Enter"].includes(event.key) && isControl(event.target))) return;
    event.preventDefault();
    act();
  };
  addEventListener("keydown", listen);
  return () => removeEventListener("keydown", listen);
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("button, a, summary") !== null;
}
