// Markdown of lessons as elements: headings, paragraphs, lists, code, emphasis, links within the lab. Text stays text.
import { html } from "./api.js";

const INLINE = /(`[^`]+`|\*\*[^*]+\*\*|\*[^*]+\*|\[[^\]]+\]\(#[^)\s]*\))/;

export function inline(text) {
  return text.split(INLINE).map((part) => {
    if (/^`.+`$/.test(part)) return html`<code>${part.slice(1, -1)}</code>`;
    if (/^\*\*.+\*\*$/.test(part)) return html`<strong>${part.slice(2, -2)}</strong>`;
    if (/^\*.+\*$/.test(part)) return html`<em>${part.slice(1, -1)}</em>`;
    const link = /^\[([^\]]+)\]\((#[^)\s]*)\)$/.exec(part);
    return link ? html`<a href=${link[2]}>${link[1]}</a>` : part;
  });
}

function block(text) {
  const heading = /^(#{2,3}) (.*)$/.exec(text);
  if (heading) return heading[1].length === 2 ? html`<h2>${inline(heading[2])}</h2>` : html`<h3>${inline(heading[2])}</h3>`;
  const lines = text.split("\n");
  if (lines.every((line) => /^(- |  )/.test(line))) return html`<ul>${text.split(/\n(?=- )/).map((item) => html`<li>${inline(item.slice(2).replace(/\n\s*/g, " "))}</li>`)}</ul>`;
  if (text.startsWith("```")) return html`<pre>${lines.slice(1, -1).join("\n")}</pre>`;
  return html`<p>${inline(lines.join(" "))}</p>`;
}

// The sections of a text by their headings of the second level.
export const sections = (text) => text.split(/\n(?=## )/).map((part) => part.trim());
export const Markdown = ({ text }) => html`${text.split(/\n{2,}/).map((part) => block(part.trim()))}`;
