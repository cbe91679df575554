// Shows the figures of a chart's band (slot of time, class, rank) beside the pointer, or with the arrow keys. The page is complete without.
"use strict";
(() => {
  const tip = document.getElementById("tip");

  function show(svg, band, x, y) {
    const lines = JSON.parse(document.getElementById("tips-" + svg.dataset.tips).textContent)[band];
    tip.replaceChildren(...lines.map((line) => Object.assign(document.createElement("div"), { textContent: line })));
    tip.hidden = false;
    tip.style.left = Math.max(8, Math.min(x + 14, innerWidth - tip.offsetWidth - 8)) + "px";
    tip.style.top = Math.max(8, Math.min(y + 14, innerHeight - tip.offsetHeight - 8)) + "px";
    const { left, right, bands } = numbers(svg);
    const cross = svg.querySelector(".cross");
    cross.setAttribute("x", left + ((right - left) * band) / bands);
    cross.setAttribute("width", (right - left) / bands);
  }

  function hide(svg) {
    tip.hidden = true;
    svg.querySelector(".cross").setAttribute("width", 0);
  }

  function numbers(svg) {
    return { left: +svg.dataset.left, right: +svg.dataset.right, bands: +svg.dataset.bands };
  }

  for (const svg of document.querySelectorAll("svg[data-tips]")) {
    const { left, right, bands } = numbers(svg);
    let band = -1;
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
      if (x < left || x > right) return hide(svg);
      band = Math.min(bands - 1, Math.floor(((x - left) / (right - left)) * bands));
      show(svg, band, event.clientX, event.clientY);
    });
    svg.addEventListener("pointerleave", () => hide(svg));
    svg.addEventListener("blur", () => hide(svg));
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.key === "Escape") hide(svg);
      if (!step) return;
      event.preventDefault();
      band = Math.max(0, Math.min(bands - 1, band + step));
      const box = svg.getBoundingClientRect();
      show(svg, band, box.left + ((left + ((right - left) * (band + 0.5)) / bands) / svg.viewBox.baseVal.width) * box.width, box.top + 20);
    });
  }
})();
