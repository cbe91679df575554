// What is wrong with a page's looks, as a list of texts: run in the page by test_report_html.py. The window is as high as the page.
(() => {
  const problems = [];
  const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });

  // A colour as [red, green, blue, alpha], 0..255 and 0..1, in whatever way it is written.
  function colour(text) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  }

  function over(front, back) {
    return [0, 1, 2].map((i) => front[i] * front[3] + back[i] * (1 - front[3])).concat(1);
  }

  // WCAG 2.1: relative luminance, contrast ratio.
  function luminance(c) {
    const [r, g, b] = c.slice(0, 3).map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }

  function contrast(a, b) {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  }

  // The paint of one element: an SVG shape's fill, a box's background.
  function paint(element) {
    const style = getComputedStyle(element);
    if (!(element instanceof SVGElement)) return colour(style.backgroundColor);
    if (element.tagName === "svg" || element.tagName === "text" || style.fill === "none") return [0, 0, 0, 0];
    const fill = colour(style.fill);
    return [...fill.slice(0, 3), fill[3] * +style.fillOpacity];
  }

  // All that is painted under a point, the lowest first.
  function background(x, y) {
    let back = [255, 255, 255, 1];
    for (const element of document.elementsFromPoint(x, y).reverse()) back = over(paint(element), back);
    return back;
  }

  function scrolled(element) {
    for (let at = element; at; at = at.parentElement) if (getComputedStyle(at).overflowX === "auto") return true;
    return false;
  }

  function name(node) {
    return `"${node.textContent.trim().slice(0, 40)}"`;
  }

  function check_text(node) {
    const element = node.parentElement;
    const range = document.createRange();
    range.selectNodeContents(node);
    const boxes = [...range.getClientRects()].filter((box) => box.width > 1 && box.height > 1);
    if (!boxes.length) return;
    const style = getComputedStyle(element);
    const scale = element instanceof SVGElement ? element.getScreenCTM().a : 1;
    const size = parseFloat(style.fontSize) * scale;
    if (size < 12) problems.push(`${name(node)} is ${size.toFixed(1)} px`);
    const box = boxes[0];
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    if (!document.elementsFromPoint(x, y).includes(element)) {
      if (!scrolled(element)) problems.push(`${name(node)} is covered`);
      return; // else out of sight in a box that scrolls
    }
    const back = background(x, y);
    const ink = over(colour(element instanceof SVGElement ? style.fill : style.color), back);
    const ratio = contrast(ink, back);
    if (ratio < 4.5) problems.push(`${name(node)} has contrast ${ratio.toFixed(2)}`);
    checked.text += 1;
    if (!scrolled(element) && boxes.some((one) => one.left < -0.5 || one.right > innerWidth + 0.5)) problems.push(`${name(node)} leaves the page`);
  }

  function check_drawing(svg) {
    const frame = svg.getBoundingClientRect();
    if (!frame.width) return;
    const texts = [...svg.querySelectorAll("text")].map((text) => [text, text.getBoundingClientRect()]);
    texts.forEach(([text, box], i) => {
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
        problems.push(`${name(text)} is cut off by its drawing`);
      for (const [other, b] of texts.slice(i + 1))
        if (box.left < b.right - 1 && b.left < box.right - 1 && box.top < b.bottom - 1 && b.top < box.bottom - 1)
          problems.push(`${name(text)} lies over ${name(other)}`);
    });
    if (svg.getAttribute("aria-hidden")) return;
    checked.drawings += 1;
    for (const id of (svg.getAttribute("aria-labelledby") || "nothing").split(" "))
      if (!svg.querySelector(`[id="${id}"]`)?.textContent) problems.push(`a drawing without a name: ${id}`);
  }

  const checked = { text: 0, drawings: 0 };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.textContent.trim() && node.parentElement.closest("script, style, title, desc") === null && node.parentElement.checkVisibility()) check_text(node);
  }
  document.querySelectorAll("svg").forEach(check_drawing);
  if (document.documentElement.scrollWidth > innerWidth) problems.push(`the page is ${document.documentElement.scrollWidth} px wide`);
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  for (const id of ids.filter((one, i) => ids.indexOf(one) !== i)) problems.push(`two elements have the id ${id}`);
  for (const figure of document.querySelectorAll("figure:not(:has(table))")) if (!figure.id.startsWith("tuned")) problems.push(`${figure.id} has no table`);
  return { problems, ...checked };
})();
