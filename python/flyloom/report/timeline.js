// Draws the timeline of a run on a canvas: rows of ranks, messages, collectives; zoom and pointer.
"use strict";
(function () {
  const MOST_MESSAGES = 4000; // lines; more of them are a blur
  const MOST_STEPS = 400; // of the critical path, with lines from rank to rank
  const LEFT = 92, TOP = 24, PATH = "#d1660a", INK = "#1c2430", DIM = "#59636f", GRID = "#e3e7ec";
  const d = JSON.parse(document.getElementById("data").textContent);
  const unpack = ([kind, text]) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return new globalThis[kind](bytes.buffer);
  };
  const s = {};
  for (const name of Object.keys(d.spans)) s[name] = unpack(d.spans[name]);
  const first = unpack(d.first), send = unpack(d.send), receive = unpack(d.receive);
  const begin = s.begin_ns, end = s.end_ns, rows = d.rows.length, all = Math.max(d.finish, 1e-3);
  const messageOf = new Int32Array(begin.length).fill(-1);
  for (let m = 0; m < send.length; m++) messageOf[send[m]] = messageOf[receive[m]] = m;
  const row = new Int32Array(begin.length);
  for (let r = 0; r < rows; r++) row.fill(r, first[r], first[r + 1]);
  const named = d.rows.map(() => []); // collectives of each row
  for (const [r, from, to, name] of d.collectives) named[r].push({ from, to, name });

  const canvas = document.getElementById("time"), tip = document.getElementById("tip");
  const state = document.getElementById("state");
  const few = rows <= 24, band = d.collectives.length ? (few ? 12 : 4) : 0;
  const bar = few ? 16 : 10, step = bar + band + (few ? 6 : 3);
  const height = TOP + rows * step + 6;
  let from = 0, to = all, over = -1, width = 0;

  const number = (n) => n.toLocaleString("en-US", { maximumFractionDigits: 3 });
  const at = (ns) => LEFT + ((ns - from) / (to - from)) * (width - LEFT - 8);
  const ns = (x) => from + ((x - LEFT) / (width - LEFT - 8)) * (to - from);
  const top = (r) => TOP + r * step + band;
  const middle = (r) => top(r) + bar / 2;
  // the first place of low..high in ascending numbers that is at least `value`
  const lower = (numbers, value, low, high) => {
    while (low < high) {
      const half = (low + high) >> 1;
      if (numbers[half] < value) low = half + 1; else high = half;
    }
    return low;
  };
  // the spans of a row that are in view
  const inView = (r) => {
    const low = Math.max(first[r], lower(begin, from, first[r], first[r + 1]) - 1);
    return [low < first[r + 1] && end[low] < from ? low + 1 : low,
            lower(begin, to, first[r], first[r + 1])];
  };

  function axis(c) {
    const wanted = (to - from) / Math.max(2, (width - LEFT) / 110);
    const ten = 10 ** Math.floor(Math.log10(wanted));
    const tick = [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= wanted);
    const [unit, word] = to - from >= 5e6 ? [1e6, "ms"] : to - from >= 2000 ? [1e3, "µs"] : [1, "ns"];
    c.fillStyle = DIM;
    c.textAlign = "center";
    for (let t = Math.ceil(from / tick) * tick; t <= to; t += tick) {
      c.fillText(number(t / unit), at(t), 10);
      c.fillStyle = GRID;
      c.fillRect(at(t), TOP - 6, 1, height - TOP);
      c.fillStyle = DIM;
    }
    c.textAlign = "left";
    c.fillText("rank, " + word, 0, 10);
  }

  // Work narrower than a pixel is added up, and the pixel has the colour of most of it.
  function bars(c, r) {
    const [low, high] = inView(r);
    const within = d.colours.map(() => 0);
    let pixel = -1;
    const flush = () => {
      if (pixel < 0) return;
      c.fillStyle = d.colours[within.indexOf(Math.max(...within))];
      c.fillRect(pixel, top(r), 1, bar);
      within.fill(0);
      pixel = -1;
    };
    for (let i = low; i < high; i++) {
      const x = Math.max(LEFT, at(begin[i])), wide = Math.min(width, at(end[i])) - x;
      if (wide < 1) {
        if (Math.floor(x) !== pixel) flush();
        pixel = Math.floor(x);
        within[s.doing[i]] += Math.max(wide, 1e-9);
        continue;
      }
      flush();
      c.fillStyle = d.colours[s.doing[i]];
      c.fillRect(x, top(r), wide, bar);
      if (!s.on[i] || wide <= 3) continue;
      c.strokeStyle = PATH;
      c.lineWidth = 1.5;
      c.strokeRect(x + 0.75, top(r) + 0.75, wide - 1.5, bar - 1.5);
    }
    flush();
    return high - low;
  }

  function collectives(c, r) {
    for (const one of named[r]) {
      const x = Math.max(LEFT, at(one.from)), right = Math.min(width, at(one.to));
      if (right < LEFT || x > width) continue;
      c.fillStyle = "#f0dfa8";
      c.fillRect(x, top(r) - band, Math.max(1, right - x), band - 1);
      c.fillStyle = INK;
      c.fillRect(x, top(r) - band, 1, band - 1);
      if (few) c.fillText(fitting(c, one.name, right - x - 6), x + 4, top(r) - band / 2 - 0.5);
    }
  }

  // as much of a name as fits
  function fitting(c, name, room) {
    if (c.measureText(name).width <= room) return name;
    let length = name.length;
    while (length > 2 && c.measureText(name.slice(0, length) + "…").width > room) length--;
    return length > 2 ? name.slice(0, length) + "…" : "";
  }

  // both ends of a message's line: where its send ends, or before if its receive begins by then
  const line = (m) => [Math.min(end[send[m]], begin[receive[m]]), begin[receive[m]]];
  const isSeen = (m) => begin[send[m]] < to && end[receive[m]] > from;

  function messages(c) {
    let seen = 0;
    for (let m = 0; m < send.length; m++) seen += isSeen(m);
    if (seen <= MOST_MESSAGES) {
      c.strokeStyle = seen < 400 ? "#59636f" : "#59636f66";
      c.lineWidth = 1;
      c.beginPath();
      for (let m = 0; m < send.length; m++) if (isSeen(m)) arrow(c, m, seen < 400);
      c.stroke();
    }
    if (over >= 0 && messageOf[over] >= 0) {
      c.strokeStyle = INK;
      c.lineWidth = 2;
      c.beginPath();
      arrow(c, messageOf[over], true);
      c.stroke();
    }
    return seen;
  }

  function arrow(c, m, head) {
    const [left, came] = line(m), down = row[receive[m]] > row[send[m]];
    const x = at(left), y = top(row[send[m]]) + (down ? bar : 0);
    const u = at(came), v = top(row[receive[m]]) + (down ? 0 : bar);
    c.moveTo(x, y);
    c.lineTo(u, v);
    if (!head) return;
    const turn = Math.atan2(v - y, u - x);
    for (const side of [0.4, -0.4]) {
      c.moveTo(u, v);
      c.lineTo(u - 6 * Math.cos(turn + side), v - 6 * Math.sin(turn + side));
    }
  }

  // Where there are too many steps in view for the lines between ranks, these are left out.
  function path(c) {
    const seen = d.path.filter(([, a, b]) => b >= from && a <= to);
    c.strokeStyle = PATH;
    c.lineWidth = 2;
    c.beginPath();
    seen.forEach(([r, a, b], i) => {
      if (i === 0 || seen.length > MOST_STEPS) c.moveTo(at(a), middle(r));
      else c.lineTo(at(a), middle(r));
      c.lineTo(seen.length > MOST_STEPS ? Math.max(at(b), at(a) + 1) : at(b), middle(r));
    });
    c.stroke();
  }

  function draw() {
    const ratio = globalThis.devicePixelRatio || 1;
    width = canvas.clientWidth;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.height = height + "px";
    const c = canvas.getContext("2d");
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    c.font = "10.5px system-ui, 'DejaVu Sans', sans-serif";
    c.textBaseline = "middle";
    axis(c);
    c.save();
    c.beginPath();
    c.rect(LEFT, TOP - 6, width - LEFT, height);
    c.clip();
    let operations = 0;
    for (let r = 0; r < rows; r++) {
      if (band) collectives(c, r);
      operations += bars(c, r);
    }
    const seen = messages(c);
    path(c);
    c.restore();
    c.fillStyle = INK;
    for (let r = 0; r < rows; r++) c.fillText(d.rows[r], 0, middle(r));
    state.textContent = `${number(from)} to ${number(to)} ns: ${number(operations)} spans of work, ` +
      `${number(seen)} messages` + (seen > MOST_MESSAGES
        ? `, which are drawn where there are at most ${number(MOST_MESSAGES)}: zoom in` : "");
  }

  let asked = false;
  function later() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  }

  function view(a, b) {
    const wide = Math.min(all, Math.max(b - a, all * 1e-9, 0.01));
    from = Math.min(Math.max(0, a), all - wide);
    to = from + wide;
    later();
  }
  const zoom = (by, about) => view(about - (about - from) * by, about + (to - about) * by);
  const centre = () => (from + to) / 2;

  function spanAt(x, y) {
    const r = Math.floor((y - TOP) / step), t = ns(x);
    if (x < LEFT || r < 0 || r >= rows) return -1;
    const near = ns(x + 3) - t; // short bars are found, too
    let best = -1;
    const high = lower(begin, t + near, first[r], first[r + 1]);
    for (let i = high - 1; i >= Math.max(first[r], high - 3); i--)
      if (end[i] >= t - near && (best < 0 || (begin[i] <= t && end[i] >= t))) best = i;
    return best;
  }

  function words(i) {
    const m = messageOf[i], bytes = `${number(s.bytes[i])} bytes`, peer = s.peer[i];
    const other = peer < 0 ? "any rank" : `rank ${peer}`;
    const tag = s.tag[i] < 0 ? "any tag" : `tag ${number(s.tag[i])}`;
    const what = d.doing[s.doing[i]];
    const said = what === "computes" ? "computes"
      : what === "answers" ? `answers ${other}: ${bytes} may come`
      : what === "receives" ? `receives ${bytes} from ${other}, ${tag}`
      : m < 0 ? `asks ${other} whether ${bytes} may come, ${tag}` : `sends ${bytes} to ${other}, ${tag}`;
    const lines = [`rank ${d.rows[row[i]]}, operation ${number(s.number[i])}: ${said}`,
                   `${number(begin[i])} to ${number(end[i])} ns (${number(end[i] - begin[i])} ns)`];
    for (const one of named[row[i]])
      if (one.from <= begin[i] && one.to >= end[i]) lines.push(`in ${one.name}`);
    if (s.on[i]) lines.push("on the critical path");
    return lines.join("\n");
  }

  function point(event) {
    const box = canvas.getBoundingClientRect();
    const was = over;
    over = spanAt(event.clientX - box.left, event.clientY - box.top);
    tip.style.display = over < 0 ? "none" : "block";
    if (over >= 0) {
      tip.textContent = words(over);
      tip.style.left = Math.min(event.clientX + 14, innerWidth - 430) + "px";
      tip.style.top = event.clientY + 14 + "px";
    }
    if (over !== was) later();
  }

  let held = null; // where the pointer was when it went down, and what was in view
  canvas.addEventListener("pointerdown", (event) => {
    held = { x: event.clientX, from, to };
    if (event.isTrusted) canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointerup", () => { held = null; });
  canvas.addEventListener("pointermove", (event) => {
    if (held === null) return point(event);
    const by = ((held.x - event.clientX) / (width - LEFT - 8)) * (held.to - held.from);
    view(held.from + by, held.to + by);
  });
  canvas.addEventListener("pointerleave", () => {
    over = -1;
    tip.style.display = "none";
    later();
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const wide = to - from;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const by = ((event.deltaX || event.deltaY) / 1000) * wide;
      return view(from + by, to + by);
    }
    const about = ns(event.clientX - canvas.getBoundingClientRect().left);
    zoom(Math.exp(event.deltaY / 500), Math.min(Math.max(about, from), to));
  }, { passive: false });
  const reset = () => view(0, all);
  canvas.addEventListener("dblclick", reset);
  const keys = {
    "+": () => zoom(0.5, centre()), "=": () => zoom(0.5, centre()), "-": () => zoom(2, centre()),
    0: reset, Home: reset, Escape: reset,
    ArrowLeft: () => view(from - (to - from) / 10, to - (to - from) / 10),
    ArrowRight: () => view(from + (to - from) / 10, to + (to - from) / 10),
  };
  canvas.addEventListener("keydown", (event) => {
    if (!(event.key in keys) || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  document.getElementById("in").addEventListener("click", keys["+"]);
  document.getElementById("out").addEventListener("click", keys["-"]);
  document.getElementById("reset").addEventListener("click", reset);
  addEventListener("resize", later);
  draw();
})();
