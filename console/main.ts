import "./look/tokens.css";
import "./look/base.css";
import { mount } from "svelte";
import { showTheme } from "./me/settings.svelte.ts";
import App from "./shell/App.svelte";
import { followLinks } from "./shell/place.svelte.ts";
import { loadLanguage } from "./words/language.svelte.ts";

showTheme();
followLinks();
await loadLanguage();
const target = document.getElementById("app");
if (target) mount(App, { target });
