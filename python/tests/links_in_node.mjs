// Reads links as the page does: a line of letters in, what it holds or why it is refused out.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

// What it imports draws, and is not needed to read.
const source = readFileSync(process.argv[2], "utf8").replace(/^import .*$/m, "");
const { readAddress } = await import(`data:text/javascript,${encodeURIComponent(source)}`);
for await (const line of createInterface({ input: process.stdin })) {
  const began = process.cpuUsage().user;
  const answer = await readAddress(JSON.parse(line)).then((found) => found, (error) => ({ refused: error.message }));
  console.log(JSON.stringify({ ...answer, cpu_s: (process.cpuUsage().user - began) / 1e6 }));
}
