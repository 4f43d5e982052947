// What hinders reading a page in the window that it is in: a list of faults, one a kind of place.
(() => {
  const faults = new Map();
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const colours = new Map();

  // The red, green, blue and opacity of a colour of CSS, however it is written.
  const rgba = (text) => {
    if (!colours.has(text)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = text;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      colours.set(text, [r, g, b, a / 255]);
    }
    return colours.get(text);
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
  const luminance = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const background = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const named = (element) => {
    const place = (one) => one.tagName.toLowerCase() +
      [...one.classList].map((word) => `.${word}`).join("");
    return element.parentElement ? `${place(element.parentElement)} ${place(element)}` : place(element);
  };
  const note = (element, kind, text) => {
    const key = `${kind} ${named(element)}`;
    if (!faults.has(key)) {
      faults.set(key, `${named(element)} ${text}: ${element.textContent.trim().slice(0, 40)}`);
    }
  };
  const scrolls = (element) => {
    for (let at = element; at && at !== document.body; at = at.parentElement) {
      if (/auto|scroll|hidden/.test(getComputedStyle(at).overflowX)) return true;
    }
    return false;
  };

  if (document.documentElement.scrollWidth > innerWidth) {
    note(document.body, "page", `is wider than its window, ${document.documentElement.scrollWidth} px`);
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || seen.has(element)) continue;
    seen.add(element);
    const style = getComputedStyle(element);
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (/^(SCRIPT|STYLE|NOSCRIPT|TITLE)$/.test(element.tagName) || element.closest("svg")) continue;
    const box = element.getBoundingClientRect();
    if (box.width <= 1 || box.height <= 1) continue; // for screen readers alone
    const below = background(element);
    const found = contrast(over(rgba(style.color), below), below);
    if (found < 4.5) note(element, "contrast", `has a contrast ${found.toFixed(1)}`);
    if (box.right > innerWidth + 1 && !scrolls(element)) {
      note(element, "wide", "is wider than its window");
    }
  }
  for (const element of document.body.querySelectorAll("*")) {
    if (element.closest("svg") || !element.checkVisibility({ visibilityProperty: true })) continue;
    const { overflowX, clip } = getComputedStyle(element);
    const room = element.clientWidth;
    if (/hidden|clip/.test(overflowX) && room > 1 && element.scrollWidth > room + 1 && clip === "auto") {
      note(element, "cut", `cuts off ${element.scrollWidth - room} px`);
    }
  }
  return [...faults.values()];
})()
