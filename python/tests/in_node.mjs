// Runs scenarios with the engine of the page as its worker does, one JSON object a line: {"scenario", "seed"} in, the summary out.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import vm from "node:vm";
import { gzipSync } from "node:zlib";

const [worker, module] = process.argv.slice(2);
globalThis.postMessage = (message) => { throw new Error(JSON.stringify(message)); };
vm.runInThisContext(readFileSync(worker, "utf8"), worker);
// The names of a script are seen by the next one.
const engine = await vm.runInThisContext(`(letters) => begin({ engine: letters, record: null, others: [] }).then(() => engine)`)(gzipSync(readFileSync(module)).toString("base64"));
for await (const line of createInterface({ input: process.stdin })) {
  const { scenario, seed } = JSON.parse(line);
  engine.json({ do: "start", run: "one", document: scenario, seed });
  let answer = "";
  while (!answer.startsWith('{"over":true')) answer = new TextDecoder().decode(engine.bytes({ do: "advance", run: "one", until_s: 1e9, events: 100_000 }));
  console.log(answer.slice(answer.indexOf('"summary":') + 10, answer.lastIndexOf(',"events":')));
}
