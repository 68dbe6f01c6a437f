// The map of a constellation at the time of the cursor: satellites, the tracks of those that serve, the path of each flow.
import { ask, asRefused, html, useEffect, useMemo, useRef, useState } from "./api.js";

const NEAR_EDGE_DEG = 120;

const drawn = (lines) => lines.map((line) => `M${line.map(([lon, lat]) => `${lon} ${-lat}`).join("L")}`).join("");

export function Sky({ run, time, flows }) {
  const [view, set] = useState(null), [coast, setCoast] = useState([]), [error, setError] = useState("");
  const wanted = useRef(), busy = useRef(false), gone = useRef(false);
  wanted.current = { run, at_s: time };
  useEffect(() => {
    ask("coast").then(({ lines }) => setCoast(lines), () => {});
    return () => {
      gone.current = true;
    };
  }, []);
  // One question at a time, for the newest place of the cursor.
  const look = async () => {
    if (busy.current) return;
    busy.current = true;
    for (let asked = null; asked !== wanted.current && !gone.current; ) {
      asked = wanted.current;
      try {
        set(await ask("sky", asked));
        setError("");
      } catch (failed) {
        setError(asRefused(failed).message);
      }
      if (asked.run === wanted.current.run && asked.at_s === wanted.current.at_s) break;
    }
    busy.current = false;
  };
  useEffect(() => {
    if (run) look();
  }, [run, time]);
  const land = useMemo(() => drawn(coast), [coast]);
  if (!view) return html`<p class="mistake" role="alert">${error}</p>`;
  return html`<figure class="network sky"><svg viewBox="-180 -90 360 180" role="img" aria-label=${view.caption}><path class="coast" d=${land} /><path class="track" d=${drawn(view.tracks)} />
    ${view.satellites.map(([lon, lat], i) => html`<rect key=${i} class="satellite" x=${lon - 1.5} y=${-lat - 1.5} width="3" height="3" />`)}
    ${view.paths.map((path, i) => html`<path key=${i} class="path" style=${{ stroke: `var(--s${(flows?.[i]?.flow ?? i) % 7})` }} d=${drawn(path)} />`)}
    ${view.terminals.map(([name, lon, lat]) => html`<g key=${name}><circle class="terminal" cx=${lon} cy=${-lat} r="3.5" /><text x=${lon} y=${-lat - 6} text-anchor=${lon > NEAR_EDGE_DEG ? "end" : lon < -NEAR_EDGE_DEG ? "start" : "middle"}>${name}</text></g>`)}
  </svg><figcaption>${view.caption}</figcaption></figure>`;
}
