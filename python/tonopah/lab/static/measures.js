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

export function useDark() {
  const query = matchMedia("(prefers-color-scheme: dark)"), [dark, set] = useState(query.matches);
  useEffect(() => {
    const change = () => set(query.matches);
    query.addEventListener("change", change);
    return () => query.removeEventListener("change", change);
  }, []);
  return dark;
}
