// What leaves the bench: an address that holds the scenario, and files.
import { ask, asRefused, html, useState } from "./api.js";

const FORMS = [["CSV of the series", "csv"], ["Parquet", "parquet"], ["SVG of the plots", "svg"], ["pcapng of the hosts", "pcapng"]];

const letters = (bytes) => btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const bytesOfLetters = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));

async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

// The fragment of an address is never sent to a server.
export async function addressOf(document, seed, view = null, script = "") {
  const packed = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify({ document, seed, view, ...(script ? { script } : {}) })));
  return `#bench/${letters(packed)}`;
}

const MOST_BYTES = 4 * 1024 * 1024;

const isView = (view) => Number.isFinite(view?.from_s) && Number.isFinite(view?.until_s) && view.from_s >= 0 && view.until_s > view.from_s;

export async function readAddress(text) {
  if (text.length > MOST_BYTES) throw new Error("the address is longer than 4 MiB");
  const read = async () => {
    const reader = new Blob([bytesOfLetters(text)]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
    const decoder = new TextDecoder();
    let [unpacked, size] = ["", 0];
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.length;
      // A megabyte may unpack to a thousand: no more is read.
      if (size > MOST_BYTES) return { size };
      unpacked += decoder.decode(part.value, { stream: true });
    }
    return JSON.parse(unpacked + decoder.decode());
  };
  // What a browser says of broken letters or a broken stream says nothing of the address.
  const { document, seed, view, script, size } = await read().then((found) => found ?? {}, () => ({}));
  if (size > MOST_BYTES) throw new Error("the address holds more than 4 MiB of scenario");
  if (document === null || typeof document !== "object" || Array.isArray(document)) throw new Error("the address holds no scenario that can be read: was it cut off?");
  return { document, seed: Number.isSafeInteger(seed) && seed >= 0 ? seed : 1, view: isView(view) ? { from_s: view.from_s, until_s: view.until_s } : null, script: typeof script === "string" ? script : "" };
}

export function save(blob, name) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

export function Share({ scenario, seed, view, script }) {
  const [told, tell] = useState("");
  const share = async () => {
    const address = await addressOf(scenario.document, seed, view, script);
    history.replaceState(null, "", address);
    await navigator.clipboard?.writeText(location.href).catch(() => {});
    tell("the address of this page now holds the scenario");
  };
  const download = async (form) => {
    tell("the run is repeated for its file …");
    try {
      const blob = await ask("export", { document: scenario.document, seed, form });
      save(blob, `run.${form === "svg" ? "svg" : "zip"}`);
      tell("");
    } catch (error) {
      tell(asRefused(error).message);
    }
  };
  return html`<details class="share"><summary>Share</summary><div class="tools">
    <button type="button" class="switch" id="share" onClick=${share}>address with the scenario</button>
    <button type="button" class="switch" onClick=${() => save(new Blob([scenario.toml], { type: "application/toml" }), "scenario.toml")}>TOML</button>
    ${FORMS.map(([text, form]) => html`<button type="button" class="switch" data-form=${form} onClick=${() => download(form)}>${text}</button>`)}</div>
    <p class="meta" role="status">${told}</p></details>`;
}
