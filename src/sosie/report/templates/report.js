"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Tables: a heading that sorts, a field that filters.

  const order = (cell) => {
    const given = cell.dataset.order;
    if (given === undefined) return cell.textContent.trim();
    return given === "" ? null : Number(given);
  };

  const compare = (a, b, collator) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return typeof a === "number" && typeof b === "number" ? a - b : collator.compare(a, b);
  };

  const sort = (table, heading, collator) => {
    const column = [...heading.parentElement.children].indexOf(heading);
    const down = heading.getAttribute("aria-sort") === "ascending";
    for (const other of heading.parentElement.children) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const keyed = [...body.rows].map((row) => [order(row.cells[column]), row]);
    keyed.sort(([a], [b]) => {
      const way = compare(a, b, collator);
      return a === null || b === null || !down ? way : -way;
    });
    body.append(...keyed.map(([, row]) => row));
  };

  // On a phone a row is a card: each cell then stands beside the heading of its column.

  for (const table of all("table.stack")) {
    const headings = [...table.tHead.rows[0].cells].map((cell) => cell.innerText.replace(/\s+/g, " ").trim());
    table.setAttribute("role", "table");
    for (const row of table.rows) {
      row.setAttribute("role", "row");
      for (const [place, cell] of [...row.cells].entries()) {
        cell.setAttribute("role", cell.tagName === "TD" ? "cell" : cell.scope === "col" ? "columnheader" : "rowheader");
        if (cell.tagName === "TD" && cell.colSpan === 1) cell.dataset.label = headings[place];
      }
    }
  }

  const collator = new Intl.Collator(document.documentElement.lang, { numeric: true });
  for (const table of all("table.sortable")) {
    for (const heading of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.title = table.dataset.hint;
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => sort(table, heading, collator));
    }
  }

  const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

  for (const field of all("input[data-filters]")) {
    const items = all(field.dataset.filters);
    const status = field.parentElement.querySelector("[role=status]");
    field.addEventListener("input", () => {
      const wanted = plain(field.value.trim());
      let shown = 0;
      for (const item of items) {
        item.hidden = !plain(item.dataset.name).includes(wanted);
        shown += !item.hidden;
      }
      const told = status.dataset.shown.replace("{shown}", shown).replace("{total}", items.length);
      status.textContent = shown ? told : status.dataset.none;
    });
  }

  // Figures: saved as they stand, each a picture of its own.

  for (const button of all("button.save")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const picture = document.querySelector(`[data-figure="${button.dataset.save}"] > svg`);
      const source = new XMLSerializer().serializeToString(picture);
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([source], { type: "image/svg+xml" }));
      link.download = `${document.title} - ${button.dataset.save}`.replace(/[^\p{L}\p{N}.-]+/gu, "_") + ".svg";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  // Paper: every note opened; then all as before.

  let opened = [];

  window.addEventListener("beforeprint", () => {
    opened = all("details:not([open]):not(.wide-table)");
    for (const note of opened) note.open = true;
  });

  window.addEventListener("afterprint", () => {
    for (const note of opened) note.open = false;
  });
})();
