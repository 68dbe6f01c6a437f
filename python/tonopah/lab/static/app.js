// The page: one view at a time, by the fragment of the address.
import { ask, asRefused, html, reached, render, textOf, useEffect, useState } from "./api.js";
import { Bench } from "./bench.js";
import { switchLarge, useLarge } from "./measures.js";
import { readAddress } from "./share.js";

const VIEWS = {
  bench: { title: "Bench", load: async () => ({ default: Bench }) },
  studies: { title: "Studies", load: () => import("./studies.js") },
  algorithms: { title: "Algorithms", load: () => import("./algorithms.js") },
  lessons: { title: "Lessons", load: () => import("./lessons.js") },
};

// A lone % is no escape: the name as it stands.
const decoded = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

// A link that ends so shows plots and sliders alone: for an <iframe>.
const EMBED = /&embed$/;

const place = () => {
  document.documentElement.classList.toggle("embed", EMBED.test(location.hash));
  const [view, ...rest] = location.hash.replace(/^#/, "").replace(EMBED, "").split("/");
  return { view: VIEWS[view] ? view : "bench", rest: rest.map(decoded) };
};

function Lab({ facts }) {
  const [at, go] = useState(place()), [view, setView] = useState(null), [error, setError] = useState(null), large = useLarge();
  useEffect(() => {
    const moved = () => go(place());
    addEventListener("hashchange", moved);
    // The address may have changed before this was heard.
    moved();
    return () => removeEventListener("hashchange", moved);
  }, []);
  useEffect(() => {
    let stale = false;
    document.title = `${VIEWS[at.view].title}: Tonopah lab`;
    const given = at.view === "bench" && at.rest[0] ? readAddress(at.rest[0]) : null;
    Promise.all([reached(VIEWS[at.view].load()), given]).then(
      ([module, read]) => stale || (setError(null), setView({ name: at.view, rest: at.rest, Shown: module.default, given: read })),
      (failed) => stale || (setView(null), setError(asRefused(failed))),
    );
    return () => {
      stale = true;
    };
  }, [at.view, at.rest.join("/")]);
  return html`<a class="skip" href="#content" onClick=${(e) => { e.preventDefault(); document.querySelector("main")?.focus(); }}>to the content</a>
    <header class="top"><span class="brand">Tonopah lab</span><nav aria-label="views">${Object.entries(VIEWS).map(([name, { title }]) => html`<a href=${`#${name}`} aria-current=${at.view === name ? "page" : null}>${title}</a>`)}</nav><button type="button" class="switch" id="large" aria-pressed=${String(large)} title="one plot and one slider, for a room" onClick=${switchLarge}>large</button><span class="meta">${facts.version}</span></header>
    ${error && html`<main><p class="mistake" role="alert">${textOf(error)}</p></main>`}
    ${view && html`<${view.Shown} key=${`${view.name}/${view.rest.join("/")}`} facts=${facts} given=${view.given} rest=${view.rest} />`}`;
}

const host = document.getElementById("lab");
ask("start").then(
  (facts) => { host.replaceChildren(); render(html`<${Lab} facts=${facts} />`, host); },
  (error) => { host.textContent = `The lab cannot be loaded: ${textOf(asRefused(error))}`; },
);
