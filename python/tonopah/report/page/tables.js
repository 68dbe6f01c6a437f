// Sortable tables, and downloads of the data that the page carries.
"use strict";

// The first number in a cell, else its text in small letters; a dash sorts last.
function sortKey(cell) {
  const text = (cell?.dataset.sort ?? cell?.firstChild?.textContent ?? "").trim();
  if (text === "–" || text === "") return [2, ""];
  const number = /^[<>]?\s*([-+−]?[\d,]*\.?\d+(?:e[-+]?\d+)?)/i.exec(text);
  return number ? [0, Number(number[1].replaceAll(",", "").replace("−", "-"))] : [1, text.toLowerCase()];
}

function compareKeys(a, b) {
  if (a[0] !== b[0]) return a[0] - b[0];
  return a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0;
}

function sortBy(table, column, descending) {
  const body = table.tBodies[0];
  const keyed = [...body.rows].map((row, i) => ({ row, i, key: sortKey(row.cells[column]) }));
  const sign = descending ? -1 : 1;
  keyed.sort((a, b) => (a.key[0] === 2 || b.key[0] === 2 ? a.key[0] - b.key[0] : sign * compareKeys(a.key, b.key)) || a.i - b.i);
  body.append(...keyed.map((one) => one.row));
}

function makeSortable(table) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.title = "sort by this column";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sortBy(table, column, descending);
    });
  });
}

// A label that a spreadsheet would take for a formula gets an apostrophe; numbers stay numbers.
function csvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

// The data of a figure as the page holds them: a row for each point, with interval and replicates where there are any.
function csvOf(figure) {
  const name = (axis, value) => axis.ticks?.[axis.values.indexOf(value)] ?? value;
  const measured = figure.kind !== "series" && figure.kind !== "ecdf";
  const head = ["series", figure.x.key || "x", ...(figure.rows ? [figure.rows.key] : []), figure.y.key, ...(measured ? ["low", "high", "n"] : [])];
  const rows = [head];
  for (const one of figure.series) {
    const { x, y } = figure.kind === "series" ? samplesOf(one) : one;
    y.forEach((value, i) => {
      const place = figure.rows ? [name(figure.x, x[i]), name(figure.rows, one.row[i])] : [name(figure.x, x[i])];
      rows.push([one.label, ...place, value, ...(measured ? [at(one.low, i), at(one.high, i), at(one.n, i)] : [])]);
    });
  }
  return `${rows.map((row) => row.map(csvCell).join(",")).join("\r\n")}\r\n`;
}

function download(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
