// The engine in a worker: runs advance in slices, between which it hears what the page asks for (crates/web).
const LIMITS = { max_events: 1_000_000_000, max_memory: 512_000_000 };
const SLICE_MS = 25, TICK_MS = 1000 / 60, END_S = 1e9;
const MOST_EXCERPT_S = 2, MOST_EVENTS = 60_000;

class Mistake extends Error {
  constructor({ path, message, hint }) {
    super(message);
    this.told = { path, message, hint };
  }
}

const told = (error) => error.told ?? { path: "", message: String(error.message ?? error), hint: null };

// One instance of the module. After a broken invariant there is another, without the runs of the one before.
class Engine {
  constructor(module) {
    this.module = module;
    this.begin();
  }

  begin() {
    const page = { broken: (at, length) => (this.defect = new TextDecoder().decode(new Uint8Array(this.own.memory.buffer, at, length))) };
    this.own = new WebAssembly.Instance(this.module, { page }).exports;
    this.desk = this.own.open();
    this.defect = "";
  }

  bytes(request) {
    const letters = new TextEncoder().encode(JSON.stringify(request));
    try {
      new Uint8Array(this.own.memory.buffer, this.own.room(this.desk, letters.length), letters.length).set(letters);
      const length = this.own.ask(this.desk);
      return new Uint8Array(this.own.memory.buffer, this.own.answer(this.desk), length).slice();
    } catch (error) {
      const message = `internal error, please report it: ${this.defect || error.message}`;
      this.begin();
      throw new Mistake({ path: "", message, hint: null });
    }
  }

  json(request) {
    const answer = JSON.parse(new TextDecoder().decode(this.bytes(request)));
    if (answer.error) throw new Mistake(answer.error);
    return answer;
  }
}

let engine = null, record = null, others = [];
const runs = new Map();

// Events in a slice, so that it takes some hundredths of a second whatever the scenario.
let slice = 1 << 14;

function timed(work) {
  const began = performance.now(), answer = work(), took = performance.now() - began;
  if (took > 2 * SLICE_MS) slice = Math.max(1 << 8, slice >> 1);
  else if (took < SLICE_MS / 2) slice = Math.min(1 << 22, slice << 1);
  return answer;
}

const channel = new MessageChannel();
const breath = () => new Promise((done) => {
  channel.port1.onmessage = done;
  channel.port2.postMessage(null);
});

// What the page draws of a scenario that records nothing.
function recordOf(scenario) {
  const { further, ...wanted } = record;
  return { ...wanted, series: [...wanted.series, ...(further[scenario?.network?.kind] ?? [])] };
}

// One run of a page, with what `tonopah serve` calls the socket of a run.
class Run {
  constructor(socket) {
    Object.assign(this, { socket, id: "", began: 0, state: "none", pace: null, now_s: 0, error: null });
  }

  say(kind, facts) {
    postMessage({ socket: this.socket, answer: JSON.stringify({ kind, ...facts }) });
  }

  facts() {
    return { run: this.id, state: this.state, now_s: this.now_s, error: this.error };
  }

  start({ scenario, seed, pace }) {
    this.forget();
    Object.assign(this, { id: `${this.socket}-${(this.began += 1)}`, pace, now_s: 0, error: null });
    try {
      const { warnings, ...started } = engine.json({ do: "start", run: this.id, document: scenario, seed, record: recordOf(scenario), ...LIMITS });
      this.state = "running";
      this.say("started", { run: this.id, ...started, warnings: warnings.map(({ path, message }) => [path, message].filter(Boolean).join(": ")) });
    } catch (error) {
      this.state = "none";
      this.say("refused", { error: told(error) });
    }
  }

  step() {
    const until_s = this.pace === null ? END_S : this.now_s + (this.pace * TICK_MS) / 1000;
    try {
      const found = timed(() => engine.json({ do: "advance", run: this.id, until_s, events: slice }));
      this.now_s = found.summary?.duration_s ?? found.now_s ?? this.now_s;
      if (found.over) this.end("done", found.summary);
    } catch (error) {
      this.error = told(error);
      this.end("failed", null);
    }
  }

  end(state, summary) {
    this.state = state;
    this.say("ended", { ...this.facts(), summary });
  }

  forget() {
    if (this.id) engine.json({ do: "forget", run: this.id });
    this.id = "";
  }

  show({ from_s, until_s, columns }) {
    const facts = JSON.stringify(this.facts()).slice(1, -1);
    const { buffer } = engine.bytes({ do: "show", run: this.id, from_s, until_s, columns, facts, others });
    postMessage({ socket: this.socket, answer: buffer }, [buffer]);
  }

  hear(message) {
    if (message.kind === "run") this.start(message);
    else if (message.kind === "attach") this.say("gone", {});
    else if (message.kind === "pace") this.pace = message.factor;
    else if (message.kind === "show" && this.id) this.show(message);
    else if (message.kind === "pause" && this.state === "running") this.state = "paused";
    else if (message.kind === "continue" && this.state === "paused") this.state = "running";
    else if (message.kind === "stop" && ["running", "paused"].includes(this.state)) this.end("stopped", null);
  }
}

let working = false;

async function work() {
  if (working) return;
  working = true;
  for (;;) {
    const active = [...runs.values()].filter((run) => run.state === "running");
    if (!active.length) break;
    active.forEach((run) => run.step());
    await (active.every((run) => run.pace !== null) ? new Promise((done) => setTimeout(done, TICK_MS)) : breath());
  }
  working = false;
}

// Packet events of a moment: the run is repeated up to there.
async function packets({ document, seed, from_s, until_s }) {
  if (until_s - from_s > MOST_EXCERPT_S) throw new Mistake({ path: "until_s", message: `${from_s} s to ${until_s} s cannot be shown`, hint: `at most ${MOST_EXCERPT_S} s` });
  engine.json({ do: "start", run: "packets", document, seed, excerpt: [from_s, until_s, MOST_EVENTS], ...LIMITS });
  let found = {};
  while (!found.over && (found.now_s ?? 0) < until_s) {
    found = timed(() => engine.json({ do: "advance", run: "packets", until_s, events: slice }));
    await breath();
  }
  if (!found.over) found = engine.json({ do: "finish", run: "packets" });
  engine.json({ do: "forget", run: "packets" });
  const events = found.events.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  return { events, complete: events.length < MOST_EVENTS };
}

const ANSWERS = {
  check({ document, seed = 1 }) {
    const started = engine.json({ do: "start", run: "check", document, seed, record: recordOf(document), ...LIMITS });
    engine.json({ do: "forget", run: "check" });
    return started;
  },
  difference: (body) => engine.bytes({ do: "difference", ...body }).buffer,
  document: ({ toml }) => engine.json({ do: "read", toml }),
  packets,
  statistic: (body) => engine.json({ do: "statistic", ...body }),
  toml: ({ document, previous }) => engine.json({ do: "write", document, previous }),
};

async function begin({ engine: letters, record: wanted, others: names }) {
  const packed = Uint8Array.from(atob(letters.trim()), (letter) => letter.charCodeAt(0));
  const bytes = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  engine = new Engine(await WebAssembly.compile(bytes));
  [record, others] = [wanted, names];
}

async function hear({ socket, message, ask, name, body }) {
  if (socket) {
    if (!runs.has(socket)) runs.set(socket, new Run(socket));
    const run = runs.get(socket);
    if (message.kind === "close") {
      run.forget();
      runs.delete(socket);
    } else run.hear(message);
    work();
    return;
  }
  try {
    const answer = await ANSWERS[name](body);
    postMessage({ ask, answer }, answer instanceof ArrayBuffer ? [answer] : []);
  } catch (error) {
    postMessage({ ask, error: told(error) });
  }
}

// What is asked before the engine is there waits for it. A browser that cannot load it has no engine at all.
let ready = null;
onmessage = ({ data }) => {
  if (data.engine) ready = begin(data);
  else ready.then(() => hear(data), (error) => postMessage({ lost: `the engine cannot be loaded: ${error.message}` }));
};
