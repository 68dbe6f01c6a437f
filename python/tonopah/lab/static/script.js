// An algorithm in JavaScript beside the scenario that names it, FILE.js:CLASS; the worker of a page without a server executes it.
import { EXAMPLE, SCRIPTS, ask, html, useEffect, useState } from "./api.js";

// What runs, for links; the text of a link runs once its reader has said so.
let running = "";
export const scriptOf = (document) => (/"[\w.-]+\.js:/.test(JSON.stringify(document)) ? running : "");

export async function runScript(text) {
  running = text;
  await ask("script", { text });
}

const BEGIN = "the scenario names it as FILE.js:CLASS: tcp.cc = \"mine.js:Reno\"";

export function Script({ given, again }) {
  const [text, write] = useState(given || running), [used, use] = useState(running);
  useEffect(() => {
    if (given) write(given);
  }, [given]);
  if (!SCRIPTS) return null;
  const run = async () => {
    await runScript(text);
    use(text);
    again();
  };
  const foreign = given && given === text && used !== text;
  return html`<details id="script" open=${Boolean(text)}><summary>Algorithm in JavaScript</summary>
    ${foreign && html`<p class="warning" role="status" id="foreign">This link brings an algorithm. It is a program of somebody else: read it, and run it if you trust it. It reaches nothing but this page.</p>`}
    <p class="meta">A class with the methods, names and units of one in Python; ${BEGIN}.</p>
    <textarea id="script-text" aria-label="algorithm in JavaScript" spellcheck="false" rows="14" value=${text} onInput=${(e) => write(e.target.value)}></textarea>
    <div class="tools"><button type="button" class="switch" id="script-run" disabled=${text === used} onClick=${run}>run this algorithm</button>
      <button type="button" class="switch" id="script-example" disabled=${text !== ""} onClick=${() => write(EXAMPLE)}>begin with Reno</button></div></details>`;
}
