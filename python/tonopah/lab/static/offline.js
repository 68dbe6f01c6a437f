// The lab without a server: the engine in a worker of the page, and what never changes in the page itself (tonopah_dev/page.py).
import { Refused } from "./refused.js";

const content = (id) => document.getElementById(id).textContent;
const ANSWERS = JSON.parse(content("answers"));
const NO_MACHINE = { path: "", message: "this needs a machine", hint: "`tonopah serve` shows the same page with it" };
const OTHERS = Object.keys(ANSWERS.start.series).filter((name) => ANSWERS.start.series[name].of !== "flow");

const waiting = new Map(), sockets = new Map();
let numbers = 0, worker = null;

// An algorithm in JavaScript is executed here, unlike on a server.
export const SCRIPTS = true;
export const EXAMPLE = content("example");

// What was sent last, while the worker has said nothing since: an algorithm that never returns is ended with it.
const SILENT_MS = 10_000;
let sent = null, scripted = false;

function tell(message) {
  sent ??= performance.now();
  worker.postMessage(message);
}

setInterval(() => {
  if (!scripted || sent === null || performance.now() - sent < SILENT_MS) return;
  worker.terminate();
  begin();
  lose("the algorithm in JavaScript does not return: the engine was begun anew without it");
}, 1000);

function lose(message) {
  sockets.forEach((socket) => socket.refuse(message));
  waiting.forEach(({ reject }) => reject(new Refused({ path: "", message, hint: null })));
  waiting.clear();
}

function heard({ data: { ask: number, socket, answer, error, lost } }) {
  sent = null;
  if (lost) lose(lost);
  else if (socket) {
    sockets.get(socket)?.onmessage({ data: answer });
  } else {
    const { resolve, reject } = waiting.get(number);
    waiting.delete(number);
    if (error) reject(new Refused(error));
    else resolve(answer instanceof ArrayBuffer ? new Blob([answer]) : answer);
  }
}

function begin() {
  [sent, scripted] = [null, false];
  worker = new Worker(URL.createObjectURL(new Blob([content("worker")], { type: "text/javascript" })));
  worker.onmessage = heard;
  worker.onerror = ({ message }) => lose(`the engine cannot be loaded: ${message}`);
  worker.postMessage({ engine: content("engine"), record: ANSWERS.start.record, others: OTHERS });
}

begin();

export function ask(name, body = {}) {
  if (ANSWERS[name]) return Promise.resolve(ANSWERS[name]);
  if (name === "script") scripted = body.text !== "";
  if (!["check", "difference", "document", "packets", "script", "statistic", "toml"].includes(name)) return Promise.reject(new Refused(NO_MACHINE));
  return new Promise((resolve, reject) => {
    waiting.set((numbers += 1), { resolve, reject });
    tell({ ask: numbers, name, body });
  });
}

// What a WebSocket is to the server.
class Connection {
  constructor() {
    this.number = numbers += 1;
    this.readyState = WebSocket.CONNECTING;
    sockets.set(this.number, this);
    setTimeout(() => {
      this.readyState = WebSocket.OPEN;
      this.onopen?.();
    });
  }

  send(message) {
    tell({ socket: this.number, message: JSON.parse(message) });
  }

  refuse(message) {
    this.onmessage?.({ data: JSON.stringify({ kind: "refused", error: { path: "", message, hint: null } }) });
  }

  close() {
    sockets.delete(this.number);
    this.readyState = WebSocket.CLOSED;
    worker.postMessage({ socket: this.number, message: { kind: "close" } });
  }
}

export const connect = () => new Connection();
