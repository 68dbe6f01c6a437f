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

// What a class in JavaScript derives from: the methods, names and units of one in Python (docs/python-algorithm.md).
class CongestionControl {
  constructor(setup) {
    this.cwnd_bytes = setup.initial_window_bytes;
    this.ssthresh_bytes = setup.initial_ssthresh_bytes;
  }

  on_ack() { throw new Error("on_ack is missing"); }
  on_congestion() { throw new Error("on_congestion is missing"); }
  on_recovery_end() {}
  on_sent() {}
  on_lost() {}
  on_idle() {}
  on_timer() {}
  next_timer() { return null; }
  pacing_rate() { return null; }
  window() { return [this.cwnd_bytes, this.ssthresh_bytes]; }

  on_undo([cwnd, ssthresh]) {
    this.cwnd_bytes = Math.max(this.cwnd_bytes, cwnd);
    this.ssthresh_bytes = Math.max(this.ssthresh_bytes ?? Infinity, ssthresh, Math.floor(cwnd / 2) + Math.floor(cwnd / 4));
  }
}

const NAMED = /^[\w.-]+\.js:([A-Za-z_$][\w$]*)$/;
const FLAGS = new Set(["round_start", "cwnd_limited", "app_limited", "slow_start_after_idle", "may_grow", "partial", "echo", "retransmission", "first", "again", "paced"]);
const WORDED = new Set(["state", "cause", "state_before"]);

// Classes of the page's text, and the objects of runs: the engine calls them with signals as doubles, here they become objects.
const scripts = {
  text: "", url: "", layout: null, plans: null, made: new Map(), count: 0, classes: [], objects: new Map(), objectCount: 0, thrown: null,

  begin(layout) {
    this.layout = layout;
    const signals = Object.entries(layout.signals).map(([kind, names]) => [kind, this.plan(names)]);
    this.plans = { setup: this.plan(layout.setup), view: this.plan(layout.view), signals: Object.fromEntries(signals) };
  },

  set(text) {
    Object.assign(this, { text, made: new Map() });
  },

  // The classes that a document names, as the engine is told of them.
  of(document) {
    const names = new Set();
    const look = (value) => {
      if (typeof value === "string" && NAMED.test(value)) names.add(value);
      else if (value !== null && typeof value === "object") Object.values(value).forEach(look);
    };
    look(document);
    return [...names].map((name) => this.described(name));
  },

  described(name) {
    if (!this.text) throw new Mistake({ path: "", message: `${name} is not here`, hint: "its text belongs under Algorithm in JavaScript, and runs when you say so" });
    if (!this.made.has(name)) {
      const [, cls] = NAMED.exec(name), found = this.load(cls);
      if (!(found?.prototype instanceof CongestionControl)) throw new Mistake({ path: "", message: `${name}: the text has no class ${cls} that extends CongestionControl`, hint: null });
      const other = Object.getOwnPropertyNames(found.prototype).find((one) => one.startsWith("on_") && !(one in CongestionControl.prototype));
      if (other) throw new Mistake({ path: "", message: `${name}: ${other} is never called`, hint: null });
      const { reference = "", strict = false, owns_window = false, timestamps = false, ecn = null, parameters = {} } = found;
      this.classes[this.count] = { name, make: found, parameters: Object.keys(parameters).sort() };
      this.made.set(name, { name, number: this.count++, reference, strict, owns_window, timestamps, ecn, parameters });
    }
    return this.made.get(name);
  },

  // The text begins in the first line, so that lines of errors are those of the editor.
  load(name) {
    let found = null;
    self.adopt = (body) => (found = body(CongestionControl));
    URL.revokeObjectURL(this.url);
    this.url = URL.createObjectURL(new Blob([`"use strict"; adopt((CongestionControl) => { ${this.text}\nreturn typeof ${name} === "undefined" ? null : ${name}; });`], { type: "text/javascript" }));
    try {
      importScripts(this.url);
    } catch (error) {
      throw new Mistake({ path: "", message: `the algorithm cannot be read: ${this.placed(error)}`, hint: null });
    }
    return found;
  },

  placed(error) {
    const line = /blob:[^\s)]*?:(\d+):\d+/.exec(error?.stack ?? "")?.[1] ?? error?.lineNumber;
    return `${error}${line ? ` (line ${line})` : ""}`;
  },

  // How doubles of these names become the fields of an object, worked out once.
  plan(names) {
    const read = (name) => {
      if (WORDED.has(name)) return (value) => this.layout.words[value];
      return FLAGS.has(name) ? (value) => value === 1 : (value) => value;
    };
    const entries = names.map((name) => name.split(".")).map(([first, rest]) => ({ first, rest, read: read(rest ?? first) }));
    return { entries, rate: names.indexOf("rate.delivered_bytes") };
  },

  fields({ entries, rate }, values) {
    const made = {};
    if (rate >= 0) made.rate = Number.isNaN(values[rate]) ? null : {};
    entries.forEach(({ first, rest, read }, i) => {
      const value = read(Number.isNaN(values[i]) ? null : values[i]);
      if (!rest) made[first] = value;
      else if (made.rate) made.rate[rest] = value;
    });
    return made;
  },

  tried(name, work) {
    try {
      return work();
    } catch (error) {
      this.thrown = `${name}: ${this.placed(error)}`;
      return null;
    }
  },

  create(number, setup, values) {
    const { name, make, parameters } = this.classes[number];
    const { seed_upper, seed_lower, ...given } = this.fields(this.plans.setup, setup);
    const object = this.tried(name, () => {
      const made = new make({ ...given, seed: (BigInt(seed_upper) << 32n) | BigInt(seed_lower) }, Object.fromEntries(parameters.map((one, i) => [one, values[i]])));
      for (const short of ["cwnd", "ssthresh"]) if (Object.hasOwn(made, short)) throw new Error(`nobody reads this.${short}: it is this.${short}_bytes`);
      return made;
    });
    if (!object) return -1;
    this.objects.set(this.objectCount, { name, object });
    return this.objectCount++;
  },

  event(number, place, signal, view, answers) {
    const { name, object } = this.objects.get(number), kind = this.layout.kinds[place];
    return Number(this.tried(name, () => {
      const sender = view.length ? [this.fields(this.plans.view, view)] : [], plan = this.plans.signals[kind];
      if (plan) object[kind](this.fields(plan, signal), ...sender);
      else if (kind === "on_undo") object.on_undo([...signal], ...sender);
      else if (kind !== "start") object[kind](...signal, ...sender);
      const number = (value) => (value === null || value === undefined ? NaN : Number(value));
      answers.set([...object.window(), object.next_timer(), object.pacing_rate()].map(number));
      return true;
    }));
  },
};

// One instance of the module. After a broken invariant there is another, without the runs of the one before.
class Engine {
  constructor(module) {
    this.module = module;
    this.begin();
  }

  begin() {
    const doubles = (at, length) => new Float64Array(this.own.memory.buffer, at, length);
    const page = {
      broken: (at, length) => (this.defect = new TextDecoder().decode(new Uint8Array(this.own.memory.buffer, at, length))),
      create: (number, setup, setups, values, count) => scripts.create(number, doubles(setup, setups), doubles(values, count)),
      event: (number, kind, signal, signals, view, views, answers) => scripts.event(number, kind, doubles(signal, signals), doubles(view, views), doubles(answers, 4)),
      end: (number) => scripts.objects.delete(number),
    };
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
    if (request.do === "start") request = { ...request, classes: scripts.of(request.document) };
    const answer = JSON.parse(new TextDecoder().decode(this.bytes(request)));
    if (answer.error) throw this.mistake(answer.error);
    return answer;
  }

  // What an algorithm has thrown stands behind what the engine says of it.
  mistake(error) {
    const { thrown } = scripts;
    scripts.thrown = null;
    return new Mistake(thrown ? { ...error, message: `${error.message}: ${thrown}` } : error);
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
  script: ({ text }) => (scripts.set(text), {}),
  statistic: (body) => engine.json({ do: "statistic", ...body }),
  toml: ({ document, previous }) => engine.json({ do: "write", document, previous }),
};

async function begin({ engine: letters, record: wanted, others: names }) {
  const packed = Uint8Array.from(atob(letters.trim()), (letter) => letter.charCodeAt(0));
  const bytes = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  engine = new Engine(await WebAssembly.compile(bytes));
  scripts.begin(engine.json({ do: "layout" }));
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
