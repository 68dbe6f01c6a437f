// What the lab knows, and runs: from the server, or from the engine in the page.
import { Refused, UNREACHED } from "./refused.js";
import { connect } from "./server.js";

export { EXAMPLE, SCRIPTS, ask } from "./server.js";
export { html, render, useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback } from "/vendor/standalone.module.js";

// What the browser says about a module that it cannot load names a file and no cause.
export const reached = (loading) => loading.catch((failed) => { throw failed instanceof TypeError ? new Refused(UNREACHED) : failed; });
export const textOf = ({ path, message, hint }) => `${path ? `${path}: ` : ""}${message}${hint ? ` (${hint})` : ""}`;

export const asRefused = (error) => (error instanceof Refused ? error : { path: "", message: String(error?.message ?? error), hint: null });

function from(start, offsets) {
  const times = new Float64Array(offsets);
  for (let i = 0; i < times.length; i += 1) times[i] += start;
  return times;
}

// Columns of float32 behind a head of JSON; times count from the head's from_s.
export function readColumns(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  let at = 4 + length;
  const take = (count) => {
    const found = new Float32Array(buffer, at, count);
    at += 4 * count;
    return found;
  };
  const tracks = head.columns.map(({ name, id, count, of }) => ({ name, id, of, t: from(head.from_s, take(count)), v: take(count) }));
  return { ...head, tracks };
}

const RETRIES_MS = [250, 1000, 2000, 4000, 8000, 12000];

// One run: commands go out, events come in. A lost connection takes the run up again while the server remembers it.
export class Run {
  constructor(listener) {
    Object.assign(this, { listener, socket: null, id: null, last: null, waiting: null, retries: 0, closed: false });
  }

  open() {
    const socket = connect();
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.retries = 0;
      if (this.id) this.send({ kind: "attach", version: 1, run: this.id });
      else if (this.last) this.send(this.last);
    };
    socket.onmessage = ({ data }) => this.receive(data);
    socket.onclose = ({ code, reason }) => {
      if (this.closed || socket !== this.socket) return;
      // 1008 and 1009: the server did not accept what was said.
      if (code === 1008 || code === 1009) this.listener({ kind: "refused", error: { path: "", message: reason, hint: null } });
      else if (this.retries < RETRIES_MS.length) setTimeout(() => !this.closed && this.open(), RETRIES_MS[this.retries++]);
      else this.listener({ kind: "refused", error: { ...UNREACHED, message: "the connection to the lab is lost" } });
    };
  }

  receive(data) {
    if (typeof data !== "string") {
      this.waiting = null;
      this.listener({ kind: "series", ...readColumns(data) });
      return;
    }
    const message = JSON.parse(data);
    if (message.kind === "started") this.id = message.run;
    if (message.kind === "gone") {
      // The server has forgotten it: the same scenario and seed give the same run again.
      this.id = null;
      if (this.last) this.send(this.last);
      else this.listener(message);
      return;
    }
    this.listener(message);
  }

  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
    else if (!this.socket || this.socket.readyState > WebSocket.OPEN) this.open();
  }

  start(scenario, seed, pace = null) {
    this.id = null;
    this.waiting = null;
    this.last = { kind: "run", version: 1, scenario, seed, pace };
    this.send(this.last);
  }

  // Takes up a run that another page began; if the server has forgotten it, the same begins again.
  attach(id, scenario, seed) {
    this.id = id;
    this.last = { kind: "run", version: 1, scenario, seed, pace: null };
    this.open();
  }

  show(from_s, until_s, columns) {
    this.waiting = { kind: "show", from_s, until_s, columns: Math.max(1, Math.min(4000, Math.round(columns))) };
    this.send(this.waiting);
  }

  close() {
    this.closed = true;
    // Closing what is not open yet would be an error in the console.
    if (this.socket?.readyState === WebSocket.CONNECTING) this.socket.onopen = () => this.socket.close();
    else this.socket?.close();
  }
}
