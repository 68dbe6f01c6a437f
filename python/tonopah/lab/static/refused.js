// A mistake of the user, with the path of the key at fault, what is wrong and what is allowed.
export class Refused extends Error {
  constructor({ path, message, hint }) {
    super(message);
    Object.assign(this, { path, hint });
  }
}

export const UNREACHED = { path: "", message: "the lab does not answer", hint: "is `tonopah serve` still running? Started again, it prints a new address" };
