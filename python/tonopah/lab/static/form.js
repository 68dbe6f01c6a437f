// A form for any part of a scenario, made from the engine's JSON schema: nothing of a scenario is listed here.
/* global known */
import { html, useState } from "./api.js";
import { join } from "./paths.js";

export function resolveSchema(schema, root) {
  let found = schema;
  while (found?.$ref) found = { ...root.$defs[found.$ref.split("/").pop()], description: found.description ?? root.$defs[found.$ref.split("/").pop()].description };
  const choices = found?.anyOf?.filter((one) => one.type !== "null");
  return choices?.length === 1 ? { ...resolveSchema(choices[0], root), description: found.description } : found ?? {};
}

// What a key means, how its values are written, and between which numbers they lie.
export function helpOf(schema, root) {
  const { description = "", minimum, maximum } = resolveSchema(schema, root);
  const named = [schema, ...(schema.anyOf ?? [])].find((one) => one.$ref), type = named && root.$defs[named.$ref.split("/").pop()];
  const written = type?.type === "string" && type.description !== description ? type.description : "";
  const range = known(minimum) && known(maximum) ? `${minimum} to ${maximum}` : known(minimum) ? `at least ${minimum}` : known(maximum) ? `at most ${maximum}` : "";
  return [description, written && `It is ${written}.`, range && `Range: ${range}.`].filter(Boolean).join(" ");
}

// The alternatives of a table: by `kind`, or by the only shape that fits the value.
const tables = (schema, root) => (schema.oneOf ?? schema.anyOf ?? []).map((one) => resolveSchema(one, root)).filter((one) => one.type === "object");
const tagOf = (one) => Object.entries(one.properties ?? {}).find(([, value]) => value.const !== undefined);
const words = (schema) => (schema.oneOf ?? schema.anyOf ?? []).filter((one) => one.const !== undefined);
const isTable = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

function fitting(schema, value, root) {
  if (schema.properties || !isTable(value)) return schema;
  const choices = tables(schema, root);
  const tagged = choices.find((one) => tagOf(one) && value[tagOf(one)[0]] === tagOf(one)[1].const);
  return tagged ?? choices.find((one) => (one.required ?? []).every((key) => key in value)) ?? choices[0] ?? schema;
}

// What to put where a key is added: its default, or the least that its schema allows.
export function initial(schema, root) {
  const found = resolveSchema(schema, root);
  if (found.default !== undefined && found.default !== null) return found.default;
  if (found.const !== undefined) return found.const;
  if (words(found).length) return words(found)[0].const;
  if (found.enum) return found.enum[0];
  const table = found.type === "object" ? found : tables(found, root)[0];
  if (table && !(found.anyOf ?? []).some((one) => one.type === "string")) {
    return Object.fromEntries((table.required ?? []).map((key) => [key, initial(table.properties[key], root)]));
  }
  const types = [found.type].flat();
  if (types.includes("array")) return [];
  if (types.includes("boolean")) return true;
  if (types.includes("integer") || types.includes("number")) return found.minimum ?? 0;
  return found.examples?.[0] ?? "";
}

function Message({ id, error }) {
  return error ? html`<p class="mistake" id=${id} role="alert">${error.message}${error.hint ? ` (${error.hint})` : ""}</p>` : null;
}

function Leaf({ schema, value, path, change, mine, help }) {
  const id = `field-${path}`, types = [schema.type].flat();
  const about = { id, "aria-label": path, "aria-invalid": mine ? "true" : null, "aria-describedby": [help && `${id}-help`, mine && `${id}-mistake`].filter(Boolean).join(" ") || null };
  const choices = words(schema).map((one) => one.const).concat(schema.enum ?? []);
  if (choices.length) {
    const known = choices.includes(value) ? choices : [value, ...choices];
    return html`<select ...${about} value=${value} onChange=${(e) => change(e.target.value)}>${known.map((one) => html`<option value=${one} selected=${one === value}>${String(one)}</option>`)}</select>`;
  }
  if (types.includes("boolean") && typeof value === "boolean") {
    return html`<input type="checkbox" ...${about} checked=${value} onChange=${(e) => change(e.target.checked)} />`;
  }
  if ((types.includes("integer") || types.includes("number")) && typeof value === "number") {
    const step = types.includes("integer") ? 1 : "any";
    return html`<input type="number" ...${about} value=${value} min=${schema.minimum} max=${schema.maximum} step=${step} onChange=${(e) => e.target.value !== "" && change(Number(e.target.value))} />`;
  }
  if (Array.isArray(value) || isTable(value)) {
    return html`<input type="text" ...${about} value=${JSON.stringify(value)} onChange=${(e) => change(asJson(e.target.value))} />`;
  }
  const algorithms = /(^|\.)cc(\.name)?$/.test(path) ? "algorithms" : null;
  return html`<input type="text" ...${about} list=${algorithms} value=${String(value)} spellcheck="false" onChange=${(e) => change(e.target.value)} />`;
}

function asJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function Field({ schema, value, path, label, context, remove }) {
  const { root, change, error } = context;
  const found = resolveSchema(schema, root), table = fitting(found, value, root);
  const mine = error && error.path === path ? error : null;
  const help = helpOf(schema, root);
  const removal = remove && html`<button type="button" class="drop" aria-label=${`remove ${path}`} title="remove: the default holds" onClick=${() => change(path, undefined)}>×</button>`;
  if (isTable(value) && (table.properties || table.additionalProperties)) {
    return html`<fieldset class="table"><legend><span title=${help}>${label}</span>${removal}</legend>
      <${Kind} schema=${found} table=${table} value=${value} path=${path} context=${context} />
      <${Message} id=${`field-${path}-mistake`} error=${mine} />
      <${Keys} table=${table} value=${value} path=${path} context=${context} /></fieldset>`;
  }
  const items = [found.type].flat().includes("array") ? resolveSchema(found.items ?? {}, root) : null;
  if (Array.isArray(value) && items && (items.properties || tables(items, root).length)) {
    return html`<fieldset class="table"><legend><span title=${help}>${label}</span>${removal}</legend><${Message} id=${`field-${path}-mistake`} error=${mine} />
      ${value.map((one, i) => html`<${Field} key=${i} schema=${found.items} value=${one} path=${join(path, i)} label=${`${label} ${i}`} context=${context} remove />`)}
      <button type="button" class="switch" onClick=${() => change(path, [...value, initial(found.items, root)])}>add ${label}</button></fieldset>`;
  }
  return html`<div class="field"><label for=${`field-${path}`} title=${help}>${label}</label>
    <${Leaf} schema=${found} value=${value} path=${path} change=${(v) => change(path, v)} mine=${mine} help=${help} />${removal}
    ${help && html`<small class="help" id=${`field-${path}-help`}>${help}</small>`}
    <${Message} id=${`field-${path}-mistake`} error=${mine} /></div>`;
}

function Kind({ schema, table, value, path, context }) {
  const choices = tables(schema, context.root).filter(tagOf), tag = tagOf(table);
  if (!tag || choices.length < 2) return null;
  const place = join(path, tag[0]);
  const pick = (name) => {
    const wanted = choices.find((one) => tagOf(one)[1].const === name);
    const kept = Object.fromEntries(Object.entries(value).filter(([key]) => key in wanted.properties && key !== tag[0]));
    context.change(path, { ...initial(wanted, context.root), ...kept, [tag[0]]: name });
  };
  return html`<div class="field"><label for=${`field-${place}`} title=${table.description}>${tag[0]}</label>
    <select id=${`field-${place}`} aria-label=${place} onChange=${(e) => pick(e.target.value)}>
    ${choices.map((one) => html`<option value=${tagOf(one)[1].const} title=${one.description} selected=${one === table}>${tagOf(one)[1].const}</option>`)}</select></div>`;
}

// The keys that are set, each with its field, and a menu of those that are not.
function Keys({ table, value, path, context }) {
  const known = table.properties ?? {}, tag = tagOf(table)?.[0];
  const set = Object.keys(value).filter((key) => key !== tag);
  const unset = Object.keys(known).filter((key) => !(key in value) && known[key].const === undefined);
  const required = table.required ?? [];
  return html`${set.map((key) => html`<${Field} key=${key} schema=${known[key] ?? (isTable(table.additionalProperties) ? table.additionalProperties : {})} value=${value[key]}
      path=${join(path, key)} label=${key} context=${context} remove=${!required.includes(key)} />`)}
    ${unset.length > 0 && html`<${Adder} keys=${unset} known=${known} path=${path} context=${context} />`}`;
}

function Adder({ keys, known, path, context }) {
  const [chosen, choose] = useState("");
  const add = (key) => {
    choose("");
    if (key) context.change(join(path, key), initial(known[key], context.root));
  };
  return html`<div class="field adder"><select aria-label=${`add a key to ${path || "the scenario"}`} value=${chosen} onChange=${(e) => add(e.target.value)}>
    <option value="">add a key …</option>
    ${keys.map((key) => html`<option value=${key} title=${resolveSchema(known[key], context.root).description}>${key}: ${short(resolveSchema(known[key], context.root).description)}</option>`)}</select></div>`;
}

const short = (text = "") => (text.length > 70 ? `${text.slice(0, 68)} …` : text);

// The field nearest to the place of a mistake: its own, or that of a table above it.
export function placeOf(error, document) {
  let path = error.path;
  const exists = (place) => place.replace(/\[(\d+)\]/g, ".$1").split(".").reduce((value, step) => value?.[step], document) !== undefined;
  while (path && !exists(path)) path = path.replace(/(\[\d+\]|\.?[^.[\]]+)$/, "");
  return { ...error, path, message: path === error.path ? error.message : `${error.path}: ${error.message}`, hint: error.hint };
}

export function Form({ document, root, error, change }) {
  const context = { root, change, error: error && placeOf({ path: error.path, message: error.message, hint: error.hint }, document) };
  return html`<form class="scenario" aria-label="scenario" onSubmit=${(e) => e.preventDefault()}>
    ${context.error && !context.error.path && html`<${Message} id="scenario-mistake" error=${context.error} />`}
    <${Keys} table=${root} value=${document} path="" context=${context} /></form>`;
}
