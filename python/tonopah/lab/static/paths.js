// Places in a document by path, as the engine writes them: network.bottleneck.rate, flow[0].cc.

export const steps = (path) => (path ? path.replace(/\[(\d+)\]/g, ".$1").split(".") : []);
export const join = (path, key) => (typeof key === "number" ? `${path}[${key}]` : path ? `${path}.${key}` : key);

export function fetchAt(document, path) {
  let place = document;
  for (const step of steps(path)) place = place?.[step];
  return place;
}

// A document with another value at a path; without one (undefined) the key is gone.
export function put(document, path, value) {
  const [first, ...rest] = steps(path);
  if (first === undefined) return value;
  const copy = Array.isArray(document) ? [...document] : { ...document };
  const inner = rest.length ? put(copy[first] ?? {}, rest.join("."), value) : value;
  if (inner === undefined && Array.isArray(copy)) copy.splice(Number(first), 1);
  else if (inner === undefined) delete copy[first];
  else copy[first] = inner;
  return copy;
}

const SCALE = { h: 3600, min: 60, s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9, Gbps: 1e9, Mbps: 1e6, kbps: 1e3, bps: 1, B: 1, kB: 1e3, KB: 1e3, MB: 1e6, GB: 1e9, p: 1 };

// Number and unit of a quantity such as "10Mbps"; null for anything else.
export function quantity(value) {
  const found = /^\s*([0-9]*\.?[0-9]+(?:e[-+]?\d+)?)\s*([A-Za-zµ]+)\s*$/.exec(typeof value === "string" ? value : "");
  return found && SCALE[found[2]] ? { number: Number(found[1]), unit: found[2], si: Number(found[1]) * SCALE[found[2]] } : null;
}

export const inSeconds = (value) => quantity(value)?.si ?? 0;
export const tidy = (number) => Number(number.toPrecision(3)).toString();
