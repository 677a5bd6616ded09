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

  // Figures: plotly.js is inflated once; each figure is drawn when it comes near the screen.

  const holder = document.getElementById("plotly");
  const { template, locale, figures } = JSON.parse(document.getElementById("figures").textContent);
  const plots = all(".plot");
  const config = {
    displayModeBar: false,
    responsive: true,
    showTips: false,
    locale: locale.name,
    locales: { [locale.name]: { dictionary: {}, format: locale.format } },
  };
  const drawn = new Set();
  const deep = () => Boolean(document.createElement("canvas").getContext("webgl"));

  const draw = (plot) => {
    if (drawn.has(plot)) return;
    drawn.add(plot);
    const { data, layout } = figures[plot.dataset.figure];
    if (layout.scene && !deep()) {
      plot.style.height = "auto";
      plot.firstElementChild.textContent = holder.dataset.webgl;
      return;
    }
    const height = "square" in plot.dataset ? Math.min(layout.height, plot.clientWidth + 60) : layout.height;
    plot.style.height = `${height}px`;
    plot.replaceChildren();
    window.Plotly.newPlot(plot, data, { ...layout, height, template, autosize: true }, config);
  };

  const fail = () => {
    for (const plot of plots) {
      plot.style.height = "auto";
      plot.firstElementChild.textContent = holder.dataset.failed;
    }
  };

  const inflate = async () => {
    const packed = Uint8Array.from(atob(holder.textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
    if (!window.Plotly) throw new Error("plotly.js did not run");
  };

  const watch = () => {
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries) {
          if (!isIntersecting) continue;
          observer.unobserve(target);
          draw(target);
        }
      },
      { rootMargin: "300px" },
    );
    for (const plot of plots) observer.observe(plot);
    for (const button of all("button.save")) {
      button.hidden = false;
      button.addEventListener("click", () => {
        const plot = plots.find((other) => other.dataset.figure === button.dataset.save);
        draw(plot);
        const filename = `${document.title} - ${plot.dataset.figure}`.replace(/[^\p{L}\p{N}.-]+/gu, "_");
        if (plot.layout) window.Plotly.downloadImage(plot, { format: "svg", filename });
      });
    }
  };

  // Paper: every figure drawn at the width of its column, every note opened; then all as before.

  let opened = [];
  const paper = (plot) => (plot.closest(".distribution") ? 330 : 640);

  window.addEventListener("beforeprint", () => {
    opened = all("details:not([open]):not(.wide-table)");
    for (const note of opened) note.open = true;
    if (!window.Plotly) return;
    for (const plot of plots) {
      draw(plot);
      if (plot.layout) window.Plotly.relayout(plot, { width: paper(plot), autosize: false });
    }
  });

  window.addEventListener("afterprint", () => {
    for (const note of opened) note.open = false;
    if (!window.Plotly) return;
    for (const plot of plots) {
      if (plot.layout) window.Plotly.relayout(plot, { width: null, autosize: true });
    }
  });

  inflate().then(watch, fail);
})();
