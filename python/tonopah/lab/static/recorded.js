// Recordings of Linux: the windows that a kernel had stand pale behind a run of the same world.
import { ask, html, useEffect, useMemo, useState } from "./api.js";

const sorted = (value) => (Array.isArray(value) ? value.map(sorted) : value && typeof value === "object" ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])])) : value);

// A world as text; what is recorded of it makes no difference.
const worldOf = ({ record: _, ...document }) => JSON.stringify(sorted(document));

// What stands behind the run of a document: the recording of its world, if there is one.
export function useRecorded(recordings, document) {
  const known = useMemo(() => new Map(recordings.map((one) => [worldOf(one.document), one])), [recordings]);
  const found = useMemo(() => (document ? known.get(worldOf(document)) : undefined), [known, document]), [windows, set] = useState(null);
  useEffect(() => {
    if (found && !windows) ask("recorded").then(set, () => set({}));
  }, [found]);
  return useMemo(() => {
    const flows = found && windows?.[found.name];
    const track = ({ flow, t_s, cwnd_bytes }) => ({ name: "cwnd", id: flow, t: t_s, v: cwnd_bytes });
    return flows ? { id: found.name, title: found.title, tracks: flows.map(track), links: [] } : null;
  }, [found, windows]);
}

export function Recordings({ recordings, chosen, choose }) {
  return html`<label class="gallery">or a world that was recorded on Linux <select id="recording" onChange=${(e) => e.target.value && choose(recordings.find((one) => one.name === e.target.value))}>
    <option value="" selected=${!chosen}>none</option>
    ${recordings.map((one) => html`<option value=${one.name} selected=${chosen === one.name}>${one.title}</option>`)}</select></label>`;
}
