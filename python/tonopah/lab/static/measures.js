// What drawing depends on besides its data: the width of its place, and whether the page is dark.
import { useEffect, useState } from "./api.js";

export function useWidth(host) {
  const [width, set] = useState(0);
  useEffect(() => {
    const watcher = new ResizeObserver(() => set(Math.floor(host.current?.clientWidth ?? 0)));
    watcher.observe(host.current);
    return () => watcher.disconnect();
  }, []);
  return width;
}

const KEPT = new Map();

// State of a view that is still there when one comes back from another view.
export function useKept(key, first) {
  const [value, set] = useState(KEPT.has(key) ? KEPT.get(key) : first);
  return [value, (next) => { KEPT.set(key, next); set(next); }];
}

// One plot and one slider on one screen, in large type: for a room.
const LARGE = "large";
const SWITCHED = new EventTarget();
export const AXIS_FONTS = { false: "11px Inter, Arial, sans-serif", true: "18px Inter, Arial, sans-serif" };
export const isLarge = () => document.documentElement.classList.contains(LARGE);

export function switchLarge() {
  document.documentElement.classList.toggle(LARGE);
  SWITCHED.dispatchEvent(new Event("switched"));
}

export function useLarge() {
  const [large, set] = useState(isLarge());
  useEffect(() => {
    const change = () => set(isLarge());
    SWITCHED.addEventListener("switched", change);
    return () => SWITCHED.removeEventListener("switched", change);
  }, []);
  return large;
}

export function useDark() {
  const query = matchMedia("(prefers-color-scheme: dark)"), [dark, set] = useState(query.matches);
  useEffect(() => {
    const change = () => set(query.matches);
    query.addEventListener("change", change);
    return () => query.removeEventListener("change", change);
  }, []);
  return dark;
}
