// Runs scenarios with the engine of the page as its worker does, one JSON object a line: {"scenario", "seed", "script"} in, the summary
// out, or what it is refused with.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import vm from "node:vm";
import { gzipSync } from "node:zlib";

const [worker, module] = process.argv.slice(2);
// What a worker of a browser has: a script by its address.
const texts = new Map();
globalThis.self = globalThis;
globalThis.Blob = class extends Blob {
  constructor(parts, options) {
    super(parts, options);
    [this.part] = parts;
  }
};
URL.createObjectURL = ({ part }) => {
  const address = `blob:${texts.size}`;
  texts.set(address, part);
  return address;
};
URL.revokeObjectURL = () => {};
globalThis.importScripts = (address) => vm.runInThisContext(texts.get(address), `${address}/text`);
globalThis.postMessage = (message) => { throw new Error(JSON.stringify(message)); };
vm.runInThisContext(readFileSync(worker, "utf8"), worker);
// The names of a script are seen by the next one.
const engine = await vm.runInThisContext(`(letters) => begin({ engine: letters, record: null, others: [] }).then(() => engine)`)(gzipSync(readFileSync(module)).toString("base64"));
for await (const line of createInterface({ input: process.stdin })) {
  const { scenario, seed, script = "" } = JSON.parse(line);
  let answer = "";
  try {
    if (script) scripts.set(script);
    engine.json({ do: "start", run: "one", document: scenario, seed });
    while (!answer.startsWith('{"over":true')) {
      answer = new TextDecoder().decode(engine.bytes({ do: "advance", run: "one", until_s: 1e9, events: 100_000 }));
      if (answer.startsWith('{"error"')) throw engine.mistake(JSON.parse(answer).error);
    }
  } catch (error) {
    console.log(JSON.stringify(error.told ?? String(error)));
    continue;
  }
  console.log(answer.slice(answer.indexOf('"summary":') + 10, answer.lastIndexOf(',"events":')));
}
