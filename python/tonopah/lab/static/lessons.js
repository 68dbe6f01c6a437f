// Lessons: a guess first, then the run, what happened and why, and tasks whose answers are held against the run.
/* global uPlot, fromStyle */
import { ask, asRefused, html, textOf, useEffect, useRef, useState } from "./api.js";
import { Watch, useRun, useScenario } from "./bench.js";
import { Form } from "./form.js";
import { judgeGuess, judgeTask } from "./judge.js";
import { Markdown, inline, sections } from "./markdown.js";
import { useDark, useKept } from "./measures.js";
import { put } from "./paths.js";
import { Sliders } from "./sliders.js";

const Told = ({ told }) => html`<p class=${told ? (told.right ? "told right" : "told wrong") : "told"} role="status">${told && html`${told.right ? "Right. " : told.right === false ? "No. " : ""}${inline(told.told)}`}</p>`;

// What is neither right nor wrong: nothing has been judged.
const WAIT = { right: null, told: "The run is not over yet: ask again in a moment." };
const asTold = (failed) => ({ right: null, told: textOf(asRefused(failed)) });

function Guess({ lesson, run, done, open }) {
  const [answer, set] = useKept(`${lesson.name} guess`, lesson.guess.choices.length ? null : lesson.guess.least), [told, tell] = useKept(`${lesson.name} told`, null);
  const { guess } = lesson;
  const check = async () => {
    open();
    if (!done() && !guess.choices.length) return tell(WAIT);
    return tell(await judgeGuess(lesson, run(), answer).catch(asTold));
  };
  return html`<section class="guess"><h2>Guess first</h2><fieldset><legend>${inline(guess.question)}</legend>
    ${guess.choices.map((text, i) => html`<label class="choice"><input type="radio" name="guess" value=${i} checked=${answer === i} onChange=${() => set(i)} /> ${text}</label>`)}
    ${!guess.choices.length && html`<label class="slider"><span>${guess.unit}</span><input type="range" id="guess" min=${guess.least} max=${guess.most} step="any" value=${answer} aria-valuetext=${`${answer.toPrecision(3)} ${guess.unit}`} onInput=${(e) => set(Number(e.target.value))} /><output>${answer.toPrecision(3)} ${guess.unit}</output></label>`}
    </fieldset><div class="tools"><button type="button" class="switch" id="guessed" disabled=${answer === null} onClick=${check}>this is my guess</button></div><${Told} told=${told} /></section>`;
}

function Task({ lesson, task, number, run, done }) {
  // What was said of an answer holds for the run that it was said of.
  const [answer, set] = useKept(`${lesson.name} ${number}`, ""), [{ told, of }, keep] = useKept(`${lesson.name} ${number} told`, {});
  const tell = (found) => keep({ told: found, of: run().id });
  const check = async () => {
    if (!done()) return tell(WAIT);
    const number = Number(answer.replace(",", "."));
    if (task.kind === "read" && (answer.trim() === "" || Number.isNaN(number))) return tell({ right: null, told: "Write a number." });
    return tell(await judgeTask(lesson, task, run(), number).catch(asTold));
  };
  const id = `task-${number}`;
  return html`<li class="task" id=${id}><label for=${`${id}-answer`}>${inline(task.question)}</label><div class="tools">
    ${task.kind === "read" && html`<input type="text" inputmode="decimal" id=${`${id}-answer`} size="10" value=${answer} onInput=${(e) => set(e.target.value)} onKeyDown=${(e) => e.key === "Enter" && check()} />${task.unit} `}
    <button type="button" class="switch" id=${task.kind === "reach" ? `${id}-answer` : null} onClick=${check}>check</button></div><${Told} told=${of === run().id ? told : null} /></li>`;
}

// A series of flow 1 over that of flow 0: both as they are at the same time.
function Phase({ tracks, name, version }) {
  const host = useRef(null), dark = useDark();
  useEffect(() => {
    const [x, y] = [0, 1].map((id) => tracks.find((track) => track.name === name && track.id === id));
    if (!x || !y || !host.current) return;
    const canvas = host.current, size = 320, pad = 34, ctx = canvas.getContext("2d");
    const table = uPlot.join([[x.t, Array.from(x.v)], [y.t, Array.from(y.v)]]);
    const most = Math.max(...x.v, ...y.v) * 1.05 || 1, at = (v) => pad + (v / most) * (size - 1.5 * pad);
    canvas.width = canvas.height = size * 2;
    ctx.scale(2, 2);
    ctx.clearRect(0, 0, size, size);
    ctx.strokeStyle = fromStyle("--rule");
    ctx.fillStyle = fromStyle("--ink");
    ctx.font = "11px Inter, Arial, sans-serif";
    ctx.strokeRect(pad, 0.5 * pad, size - 1.5 * pad, size - 1.5 * pad);
    ctx.setLineDash([4, 4]);
    ctx.beginPath();
    ctx.moveTo(at(0), size - at(0));
    ctx.lineTo(at(most), size - at(most));
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.fillText(`flow 0: 0 to ${(most / 1e3).toPrecision(3)} kB`, pad, size - 12);
    ctx.save();
    ctx.translate(14, size - pad);
    ctx.rotate(-Math.PI / 2);
    ctx.fillText(`flow 1: 0 to ${(most / 1e3).toPrecision(3)} kB`, 0, 0);
    ctx.restore();
    ctx.strokeStyle = fromStyle("--s0");
    ctx.globalAlpha = 0.7;
    ctx.beginPath();
    let [a, b] = [0, 0];
    for (let i = 0; i < table[0].length; i += 1) {
      a = table[1][i] ?? a;
      b = table[2][i] ?? b;
      if (i) ctx.lineTo(at(a), size - at(b));
      else ctx.moveTo(at(a), size - at(b));
    }
    ctx.stroke();
  }, [version, dark]);
  return html`<figure class="phase"><figcaption>Phase plot</figcaption><canvas ref=${host} role="img" aria-label=${`${name} of flow 1 over ${name} of flow 0; the dashed line is where both are equal`}></canvas></figure>`;
}

function One({ lesson, facts, next }) {
  const [state, run] = useRun(() => 1000), [pace, setPace] = useState(""), [opened, open] = useKept(`${lesson.name} opened`, false), [kept, keep] = useKept(`${lesson.name} scenario`, lesson.scenario);
  const scenario = useScenario((document) => run.start(document, 1, pace ? Number(pace) : null));
  useEffect(() => scenario.change(kept), []);
  useEffect(() => scenario.document && keep(scenario.document), [scenario.document]);
  const statistic = async (series, owner, name) => (await ask("statistic", { run: state.id, series, owner, statistic: name })).value;
  const judged = () => ({ id: run.run.id, summary: state.summary, document: state.document, statistic });
  const done = () => run.over && state.phase === "done" && state.id === run.run.id && !state.outdated;
  const error = scenario.error ?? (state.phase === "refused" || state.phase === "failed" ? state.error : null);
  return html`<p><a href="#lessons">all lessons</a></p><h1>${lesson.title}</h1><p>${inline(lesson.summary)}</p>
    <${Guess} lesson=${lesson} run=${judged} done=${done} open=${() => open(true)} />
    ${!opened && html`<p class="meta">The run is shown when you have guessed. <button type="button" class="switch" id="skip-guess" onClick=${() => open(true)}>show it</button></p>`}
    ${opened && html`<h2>The run</h2><div class="trial"><div class="setup">${scenario.document && html`<${Sliders} document=${scenario.document} origin=${scenario.origin} change=${scenario.turn} />`}
      <details><summary>Scenario as a form</summary>${scenario.document && html`<${Form} document=${scenario.document} root=${facts.schema} error=${error} change=${(path, value) => scenario.change(put(scenario.document, path, value))} />`}</details>
      <div class="tools"><button type="button" class="switch" id="restore" onClick=${() => scenario.change(lesson.scenario)}>the lesson's scenario again</button></div>
      <p class="mistake" role="alert">${error && state.phase !== "failed" ? textOf(error) : ""}</p><datalist id="algorithms">${facts.algorithms.map((name) => html`<option value=${name}></option>`)}</datalist></div>
      <${Watch} state=${state} run=${run} facts=${facts} pace=${pace} setPace=${(text) => { setPace(text); run.run.send({ kind: "pace", factor: text ? Number(text) : null }); }} again=${() => scenario.change(scenario.document)}>
        ${lesson.phase && html`<${Phase} tracks=${state.tracks} name=${lesson.phase} version=${state.version} />`}<//></div>
    ${sections(lesson.text).map((part) => html`<section><${Markdown} text=${part} /></section>`)}
    <h2>Tasks</h2><ol class="tasks">${lesson.tasks.map((task, i) => html`<${Task} key=${i} lesson=${lesson} task=${task} number=${i} run=${judged} done=${done} />`)}</ol>`}
    ${next && html`<p>Next: <a href=${`#lessons/${next.name}`}>${next.title}</a></p>`}`;
}

export default function Lessons({ facts, rest }) {
  const [found, set] = useState(null), [error, setError] = useState("");
  useEffect(() => {
    ask("lessons").then(({ lessons }) => set(lessons), (failed) => setError(asRefused(failed).message));
  }, []);
  const index = found?.findIndex((one) => one.name === rest[0]) ?? -1;
  return html`<main class="reading" tabindex="-1"><p class="mistake" role="alert">${error}</p>
    ${found && !rest[0] && html`<h1>Lessons</h1><ol class="lessons">${found.map((one) => html`<li key=${one.name}><a href=${`#lessons/${one.name}`}>${one.title}</a><p class="meta">${one.summary}</p></li>`)}</ol>`}
    ${found && rest[0] && (index >= 0 ? html`<${One} key=${rest[0]} lesson=${found[index]} facts=${facts} next=${found[index + 1]} />` : html`<p class="mistake">There is no lesson ${rest[0]}.</p>`)}</main>`;
}
