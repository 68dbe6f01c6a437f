// The algorithms of the registry: what each is, its parameters and profiles, its response function, its window.
/* global uPlot, fromStyle, show */
import { ask, asRefused, html, useEffect, useRef, useState } from "./api.js";
import { Watch, useRun } from "./bench.js";
import { AXIS_FONTS, isLarge, useDark, useWidth } from "./measures.js";

const LOSSES = [1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5];
const LOOK_MS = 1000;

const number = (value) => (typeof value === "number" ? String(Number(value.toPrecision(6))) : String(value ?? ""));

function Facts({ entry }) {
  const asks = entry.requirements ?? {};
  const wishes = [asks.owns_window && "its own window in recovery too", asks.ecn && `congestion marks of the form ${asks.ecn}`, asks.timestamps && "timestamps"].filter(Boolean);
  return html`<p>${entry.reference}</p>${wishes.length > 0 && html`<p class="meta">Asks of its connection: ${wishes.join("; ")}.</p>`}
    ${entry.params?.length > 0 && html`<h2>Parameters</h2><div class="scroll facts" tabindex="0" role="region" aria-label="parameters"><table><thead><tr><th>name</th><th>default</th><th>range</th><th>unit</th><th>meaning and source</th></tr></thead><tbody>
      ${entry.params.map((one) => html`<tr key=${one.name}><td><code>${one.name}</code></td><td>${number(one.default)}</td><td>${one.min === undefined || one.min === null ? "" : `${number(one.min)} to ${number(one.max)}`}</td><td>${one.unit}</td><td>${one.doc}<small>${one.source}</small></td></tr>`)}</tbody></table></div>`}
    ${entry.profiles?.length > 0 && html`<h2>Profiles</h2><div class="scroll facts" tabindex="0" role="region" aria-label="profiles"><table><thead><tr><th>name</th><th>recovery</th><th>sets</th></tr></thead><tbody>
      ${entry.profiles.map((one) => html`<tr key=${one.name}><td><code>${one.name}</code></td><td>${one.recovery ?? "the connection's"}</td><td>${Object.entries(one.set).map(([key, value]) => `${key} = ${number(value)}`).join(", ") || "nothing: the defaults"}</td></tr>`)}</tbody></table></div>`}`;
}

// Window against loss rate, measured now, a run for each point; beside it the square-root law.
function Response({ cc, version }) {
  const [points, set] = useState([]), [error, setError] = useState(""), [going, go] = useState(false), host = useRef(null), width = useWidth(host), dark = useDark();
  const stale = useRef(0);
  useEffect(() => {
    stale.current += 1;
    set([]);
    go(false);
    return () => {
      stale.current += 1;
    };
  }, [JSON.stringify(cc), version]);
  const measure = async () => {
    const mine = (stale.current += 1);
    set([]);
    setError("");
    go(true);
    try {
      for (const loss of LOSSES) {
        const point = await ask("response", { cc, loss });
        if (mine !== stale.current) return;
        set((before) => [point, ...before]);
      }
    } catch (failed) {
      setError(asRefused(failed).message);
    }
    if (mine === stale.current) go(false);
  };
  useEffect(() => {
    if (!points.length || !width) return undefined;
    const ink = fromStyle("--ink"), line = fromStyle("--line"), axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line }, font: AXIS_FONTS[isLarge()], labelFont: AXIS_FONTS[isLarge()], labelSize: 18 };
    const plot = new uPlot(
      {
        width: Math.min(640, width), height: 280, scales: { x: { time: false, distr: 3 }, y: { distr: 3 } },
        axes: [{ ...axis, label: "loss rate", values: (u, ticks) => ticks.map((v) => (v ? v.toExponential(0) : "")) }, { ...axis, label: "segments", size: 60, values: (u, ticks) => ticks.map((v) => (v ? show(v, 3) : "")) }],
        cursor: { drag: { x: false, y: false } },
        series: [{ label: "loss rate", value: (u, v) => show(v, 3) }, { label: "mean window, measured", stroke: fromStyle("--s0"), width: 2, points: { show: true, size: 7 }, value: (u, v) => show(v) }, { label: "square-root law", stroke: fromStyle("--s1"), dash: [7, 3], width: 1.5, points: { show: false }, value: (u, v) => show(v) }],
      },
      [points.map((p) => p.loss), points.map((p) => p.window_segments), points.map((p) => p.law_segments)],
      host.current,
    );
    return () => plot.destroy();
  }, [points, width, dark]);
  return html`<h2>Response function</h2><p class="meta">Mean window in segments of one flow over 500 Mb/s and 40 ms, against the rate of losses at random; measured in a run of 60 s for each point.</p>
    <div class="tools"><button type="button" class="switch" id="measure" disabled=${going} onClick=${measure}>${going ? `${points.length} of ${LOSSES.length} points` : "measure"}</button></div>
    <p class="mistake" role="alert">${error}</p><div id="response" class="plot" ref=${host} role="img" aria-label=${`window against loss rate: ${points.map((p) => `${p.loss}: ${show(p.window_segments, 3)}`).join("; ")}`}></div>
    ${points.length > 0 && html`<div class="scroll" tabindex="0" role="region" aria-label="response function"><table id="response-table"><thead><tr><th>loss rate</th><th>window</th><th>square-root law</th></tr></thead><tbody>${points.map((p) => html`<tr key=${p.loss}><td>${p.loss}</td><td>${show(p.window_segments)}</td><td>${show(p.law_segments)}</td></tr>`)}</tbody></table></div>`}`;
}

// Against recordings of Linux, computed now, case for case: what `tonopah validate linux` compares and allows.
function Linux({ cc }) {
  const [cases, setCases] = useState([]), [columns, setColumns] = useState([]), [rows, set] = useState([]), [going, go] = useState(false), [error, setError] = useState("");
  const open = useRef(true);
  useEffect(() => {
    ask("linux", { cc }).then((found) => (setCases(found.cases), setColumns(found.columns)), (failed) => setError(asRefused(failed).message));
    return () => {
      open.current = false;
    };
  }, []);
  const compare = async () => {
    set([]);
    go(true);
    setError("");
    try {
      for (const name of cases) {
        const row = await ask("linux", { cc, case: name });
        if (!open.current) return;
        set((before) => [...before, row]);
      }
    } catch (failed) {
      setError(asRefused(failed).message);
    }
    go(false);
  };
  if (!cases.length) return html`<h2>Against Linux</h2><p class="meta">No recording of Linux has this algorithm alone.</p><p class="mistake" role="alert">${error}</p>`;
  const goals = ({ goals: text, missed }) => html`${text}${missed.map((one) => html`<small key=${one.name}>${one.name}: ${one.ours}, Linux ${one.theirs}; allowed ${one.goal}</small>`)}`;
  return html`<h2>Against Linux</h2><p class="meta">${cases.length} recordings of Linux with this algorithm, each run again here: measures and goals of <code>tonopah validate linux</code>; of every ratio, ours over the kernel's.</p>
    <div class="tools"><button type="button" class="switch" id="against-linux" disabled=${going} onClick=${compare}>${going ? `${rows.length} of ${cases.length} cases` : "compare"}</button>${rows.length > 0 && html`<span class="meta" role="status">${rows.filter((row) => row.met).length} of ${rows.length} meet all their goals</span>`}</div>
    <p class="mistake" role="alert">${error}</p>
    ${rows.length > 0 && html`<div class="scroll" tabindex="0" role="region" aria-label="against Linux"><table id="linux-table"><thead><tr><th>kernel and case</th>${columns.map((name) => html`<th key=${name}>${name}</th>`)}<th>goals</th></tr></thead><tbody>
      ${rows.flatMap((row) => row.flows.map((cells, i) => html`<tr key=${`${row.case} ${i}`}><td>${i ? `flow ${i}` : html`${row.case}<small>${row.about}</small>`}</td>${cells.map((cell, k) => html`<td key=${k}>${cell}</td>`)}<td>${i ? "" : goals(row)}</td></tr>`))}</tbody></table></div>`}`;
}

const standard = (cc) => ({
  duration: "60s",
  network: { kind: "dumbbell", pairs: 1, flows: 1, bottleneck: { rate: "10Mbps", delay: "18ms", queue: { kind: "drop_tail", limit: "33p" } } },
  tcp: { cc, profile: "linux" },
});

function One({ entry, cc, version, facts }) {
  const [state, run] = useRun(() => 900), [pace, setPace] = useState("");
  const begin = () => run.start(standard(cc), 1, null);
  useEffect(begin, [JSON.stringify(cc), version]);
  return html`<h1>${entry.name ?? entry.python}: ${entry.title}</h1><${Facts} entry=${entry} />
    <h2>On the standard dumbbell</h2><p class="meta">One flow over 10 Mb/s and 40 ms, a queue of 33 packets, settings of Linux.</p>
    <${Watch} state=${state} run=${run} facts=${facts} pace=${pace} setPace=${(text) => { setPace(text); run.run.send({ kind: "pace", factor: text ? Number(text) : null }); }} again=${begin} />
    <${Response} cc=${cc} version=${version} />
    ${typeof cc === "string" && html`<${Linux} cc=${cc} />`}`;
}

export default function Algorithms({ facts, rest }) {
  const [found, set] = useState(null), [error, setError] = useState(""), chosen = rest[0];
  const look = () => ask("algorithms").then(set, (failed) => setError(asRefused(failed).message));
  useEffect(() => {
    look();
    // A file that is saved runs again.
    const timer = facts.allow_python ? setInterval(look, LOOK_MS) : 0;
    return () => clearInterval(timer);
  }, []);
  const entry = found?.algorithms.find((one) => one.name === chosen), own = found?.own.find((one) => one.python === chosen);
  return html`<main class="reading" tabindex="-1"><p class="mistake" role="alert">${error}</p>
    ${found && !chosen && html`<h1>Algorithms</h1><div class="scroll" tabindex="0" role="region" aria-label="algorithms"><table><thead><tr><th>name</th><th>what it is</th><th>profiles</th></tr></thead><tbody>
      ${found.own.map((one) => html`<tr key=${one.python}><td><a href=${`#algorithms/${encodeURIComponent(one.python)}`}>${one.python}</a></td><td>${one.title}</td><td>in this folder</td></tr>`)}
      ${found.algorithms.map((one) => html`<tr key=${one.name}><td><a href=${`#algorithms/${one.name}`}>${one.name}</a></td><td>${one.title}</td><td>${one.profiles.map((p) => p.name).join(", ")}</td></tr>`)}</tbody></table></div>`}
    ${chosen && html`<p><a href="#algorithms">all algorithms</a></p>`}
    ${entry && html`<${One} key=${chosen} entry=${entry} cc=${entry.name} facts=${facts} />`}
    ${own && html`<${One} key=${chosen} entry=${own} cc=${{ python: own.python }} version=${own.changed} facts=${facts} />`}
    ${found && chosen && !entry && !own && html`<p class="mistake">There is no algorithm ${chosen}.</p>`}</main>`;
}
