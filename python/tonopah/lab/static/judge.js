// Whether an answer to a lesson is right: held against a run, `{summary, document, statistic(series, owner, name)}`.
import { fetchAt, put, steps } from "./paths.js";

const NEAR = 0.25;
const THREE = (value) => Number(value.toPrecision(3));

// A number of a run, divided by another if there is one: a path into its summary, or `series.NAME.OWNER.max`.
async function measured(run, path, over) {
  const [first, series, owner, name] = steps(path);
  const value = first === "series" ? await run.statistic(series, Number(owner), name) : fetchAt(run.summary, path);
  if (typeof value !== "number") throw new Error(`${path}: the run has no such number`);
  return over ? value / (await measured(run, over)) : value;
}

export async function judgeGuess({ guess }, run, answer) {
  if (guess.choices.length) return { right: answer === guess.right, told: guess.why };
  const value = (await measured(run, guess.read)) * guess.factor;
  return { right: Math.abs(answer - value) <= NEAR * Math.abs(value), told: `The run says ${THREE(value)} ${guess.unit}. ${guess.why}` };
}

export async function judgeTask(lesson, task, run, answer) {
  if (task.kind === "read") {
    const value = (await measured(run, task.read, task.over)) * task.factor, right = Math.abs(answer - value) <= task.within * Math.abs(value) + 1e-9;
    return { right, told: right ? task.right : `Not what this run says. ${task.hint}` };
  }
  const other = otherChange(lesson.scenario, run.document, task.change);
  if (other) return { right: false, told: `Change only ${task.change.join(", ")}: ${other} is different.` };
  const values = await Promise.all(task.reach.map(({ path, over }) => measured(run, path, over)));
  const right = task.reach.every(({ least, most }, i) => (least ?? -Infinity) <= values[i] && values[i] <= (most ?? Infinity));
  return { right, told: right ? task.right : `Not yet. ${task.hint}` };
}

// The same text for the same tables, whatever the order of their keys.
const sorted = (key, value) => (value && typeof value === "object" && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value);

// A key of a run that differs from the lesson's scenario and may not.
function otherChange(scenario, document, allowed) {
  const [before, now] = [scenario, document].map((one) => ["record", ...allowed].reduce((left, path) => put(left, path, undefined), one));
  const keys = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
  return keys.find((key) => JSON.stringify(before[key], sorted) !== JSON.stringify(now[key], sorted));
}
