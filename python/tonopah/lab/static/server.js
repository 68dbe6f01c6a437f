// The lab of `tonopah serve`: what it is asked, and the socket of a run. offline.js is in its place where there is no server.
import { Refused, UNREACHED } from "./refused.js";

// The address that `tonopah serve` prints has the token behind its #, which is sent nowhere. A tab keeps it for itself, unlike a
// cookie, which goes to every port of the machine; a new tab asks those that are open.
const TABS = new BroadcastChannel("tonopah-lab");
const OTHERS_MS = 300;

async function findToken() {
  const given = /^#token=([\w-]+)/.exec(location.hash);
  if (given) {
    sessionStorage.setItem("token", given[1]);
    history.replaceState(null, "", location.pathname);
  }
  const known = sessionStorage.getItem("token") ?? await new Promise((found) => {
    TABS.onmessage = ({ data }) => data.token && found(data.token);
    TABS.postMessage({ wanted: true });
    setTimeout(() => found(""), OTHERS_MS);
  });
  if (known) sessionStorage.setItem("token", known);
  TABS.onmessage = ({ data }) => data.wanted && known && TABS.postMessage({ token: known });
  return known;
}

const token = await findToken();

export async function ask(name, body = {}) {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const answer = await fetch(`/api/${name}`, { method: "POST", headers, body: JSON.stringify(body) }).catch(() => {
    throw new Refused(UNREACHED);
  });
  const type = answer.headers.get("content-type") ?? "";
  if (!type.includes("json")) {
    if (!answer.ok) throw new Refused({ path: "", message: await answer.text(), hint: null });
    return answer.blob();
  }
  const found = await answer.json();
  if (found.error) throw new Refused(found.error);
  return found;
}

// No algorithm in JavaScript: there are those in Python.
export const SCRIPTS = false;
export const EXAMPLE = "";

// A connection to one run at a time.
export const connect = () => new WebSocket(`ws://${location.host}/api/run`, ["tonopah-lab", token]);
