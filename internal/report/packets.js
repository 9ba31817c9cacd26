"use strict";
// Draws the flows of the page: panels over one axis of time, zoomed together.
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const steps = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
const short = v => { for (const [f, p] of steps) if (Math.abs(v) >= f) return +(v / f).toPrecision(3) + " " + p; return +v.toPrecision(3) + " "; };
const clock = s => s >= 1 || s === 0 ? +s.toPrecision(5) + " s" : +(s * 1e3).toPrecision(4) + " ms";
const ticks = (from, to, n) => {
  const raw = (to - from) / n, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map(m => m * power).find(s => s >= raw), out = [];
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) out.push(Math.abs(t) < step / 1e6 ? 0 : t);
  return out;
};
const patterns = [[], [6, 3], [2, 2], [8, 2, 2, 2]];
const left = 74, foot = 22;
function flow(box, f) {
  const n = f.at.length, begin = f.at[0], end = Math.max(f.end, f.at[n - 1] + 1e-6);
  let from = begin, to = end, cursor = null;
  const level = (colour, v, name) => v ? [[colour, f.at.map(() => v), name]] : [];
  const marks = [
    ["--a0", "▲", "sent again", i => f.again[i] > f.timers[i] && f.una[i]],
    ["--a0", "■", "sent again by a timer", i => f.timers[i] && f.una[i]],
    ["--a3", "┃", "selectively acknowledged", i => f.sacked[i] > f.una[i] && f.sacked[i]],
    ["--a4", "◆", "window of zero", i => f.zero[i] && f.una[i]],
  ].map(m => [...m, f.at.some((_, i) => m[3](i))]).filter(m => m[4]);
  const panels = [
    { title: "sequence", unit: "B", height: 210, lines: [["--a1", f.next, "sent"], ["--a2", f.una, "acknowledged"], ["--a4", f.edge, "edge of the window"]], marks: true },
    { title: "under way", unit: "B", height: 130, lines: [["--a1", f.flight, "under way"], ["--a4", f.window, "window"]] },
    { title: "rate", unit: "bit/s", height: 110, lines: [["--a2", f.rate, "delivered"], ...level("--a4", f.path, "path's rate")] },
    { title: "round trip", unit: "s", height: 110, lines: [["--a3", f.rtt, "round trip"], ...level("--a4", f.base, "least")] },
    { title: "limit", height: 58, spans: true },
  ];
  const said = box.querySelector(".said");
  const bar = box.appendChild(document.createElement("p"));
  for (const [sign, name, act] of [["+", "zoom in", () => zoom((from + to) / 2, .5)], ["−", "zoom out", () => zoom((from + to) / 2, 2)],
    ["◀", "earlier", () => show(from - (to - from) / 3, to - (to - from) / 3)], ["▶", "later", () => show(from + (to - from) / 3, to + (to - from) / 3)],
    ["all", "show all", () => show(begin, end)]]) {
    const b = bar.appendChild(document.createElement("button"));
    b.textContent = sign; b.ariaLabel = b.title = name; b.addEventListener("click", act);
  }
  for (const p of panels) { p.canvas = document.createElement("canvas"); p.canvas.tabIndex = p === panels[0] ? 0 : -1; p.canvas.role = "img"; p.canvas.ariaLabel = p.title + " over time" + (p.lines ? ": " + p.lines.map(l => l[2]).join(", ") : ""); box.insertBefore(p.canvas, said); }
  const at = t => { let a = 0, b = n - 1; while (a < b) { const m = a + b + 1 >> 1; if (f.at[m] <= t) a = m; else b = m - 1; } return a; };
  const limitAt = t => f.spans.find(s => t < s[1]) || f.spans[f.spans.length - 1];
  function draw() {
    for (const p of panels) {
      const c = p.canvas, w = c.clientWidth, r = devicePixelRatio || 1, g = c.getContext("2d"), font = "12px system-ui, sans-serif";
      g.font = font;
      p.keys = key(g, w, (p.spans ? f.names.map(name => ["", "■", name]) : entries(p)).map(([, sign, name]) => ["", sign, name]));
      const h = p.keys + (p.spans ? 45 : p.height);
      c.style.height = h + "px"; c.width = w * r; c.height = h * r; g.scale(r, r); g.font = font;
      const x = t => left + (t - from) / (to - from) * (w - left - 6), bottom = h - foot;
      g.fillStyle = css("--soft"); g.strokeStyle = css("--edge"); g.lineWidth = 1;
      for (const t of ticks(from, to, Math.max(w / 110, 5))) { g.beginPath(); g.moveTo(x(t), p.keys + 5); g.lineTo(x(t), bottom); g.stroke(); g.textAlign = "center"; g.fillText(clock(t), Math.min(x(t), w - 24), h - 6); }
      g.textAlign = "left"; g.fillStyle = css("--fg");
      if (p.spans) bands(g, x, w, bottom); else curves(g, p, x, w, bottom);
      if (cursor !== null) { g.strokeStyle = css("--fg"); g.beginPath(); g.moveTo(x(cursor), p.keys + 5); g.lineTo(x(cursor), bottom); g.stroke(); }
    }
    if (cursor === null) { said.textContent = "Point at a moment to read it; + and −, or the wheel with Ctrl, zoom; dragging or arrows move; a double click or 0 shows all."; return; }
    const i = at(cursor), s = limitAt(cursor);
    said.textContent = clock(f.at[i]) + ": " + short(f.flight[i]) + "B under way, window " + short(f.window[i]) + "B, " + short(f.rate[i]) + "bit/s" +
      (f.rtt[i] ? ", round trip " + clock(f.rtt[i]) : "") + (f.again[i] ? ", " + f.again[i] + " sent again" + (f.timers[i] ? " (" + f.timers[i] + " by timers)" : "") : "") +
      (f.zero[i] ? ", window of zero" : "") + (s ? "; limit: " + f.names[s[2]] : "");
  }
  const entries = p => [...p.lines.map(([colour, , name], k) => [colour, "", name, patterns[k]]), ...p.marks ? marks.map(m => m.slice(0, 3)) : []];
  // key writes what colours, signs and patterns stand for; without colours it only tells where the last row is.
  function key(g, w, entries) {
    let at = left, row = 13;
    for (const [colour, sign, name, pattern] of entries) {
      const wide = sign ? 14 : 26;
      if (at > left && at + wide + g.measureText(name).width > w) { at = left; row += 15; }
      if (colour) {
        g.fillStyle = g.strokeStyle = css(colour); g.lineWidth = 2; g.setLineDash(pattern || []);
        if (sign) g.fillText(sign, at, row); else { g.beginPath(); g.moveTo(at, row - 4); g.lineTo(at + 22, row - 4); g.stroke(); }
        g.setLineDash([]); g.fillStyle = css("--fg"); g.fillText(name, at + wide, row);
      }
      at += wide + 16 + g.measureText(name).width;
    }
    return row;
  }
  function bands(g, x, w, bottom) {
    const colours = ["--a0", "--a1", "--a2", "--a3", "--a4"];
    for (const [a, b, l] of f.spans) {
      if (b < from || a > to) continue;
      const x0 = Math.max(x(a), left), x1 = Math.min(x(b), w - 6);
      g.fillStyle = css(colours[l % 5]); g.globalAlpha = l < 5 ? .85 : .45; g.fillRect(x0, bottom - 18, Math.max(x1 - x0, .7), 18); g.globalAlpha = 1;
    }
    g.fillStyle = css("--fg"); g.fillText("limit", 2, bottom - 6);
    key(g, w, f.names.map((name, l) => [colours[l % 5], l < 5 ? "■" : "▒", name]));
  }
  function curves(g, p, x, w, bottom) {
    const a = Math.max(0, at(from) - 1), b = Math.min(n - 1, at(to) + 1);
    let low = Infinity, high = -Infinity;
    p.lines.forEach(([, v], k) => { if (p.lines.length === 3 && k === 2) return; for (let i = a; i <= b; i++) { low = Math.min(low, v[i]); high = Math.max(high, v[i]); } });
    if (p.title !== "sequence") low = 0;
    if (!(high > low)) high = low + 1;
    high += (high - low) * .08;
    const top = p.keys + 9, y = v => bottom - (v - low) / (high - low) * (bottom - top);
    g.fillStyle = css("--soft"); g.textAlign = "right";
    for (const v of ticks(low, high, bottom / 45)) g.fillText(p.unit === "s" ? clock(v) : short(v) + p.unit, left - 6, Math.max(y(v) + 4, top + 4));
    g.textAlign = "left"; g.save(); g.beginPath(); g.rect(left, top - 4, w - left - 6, bottom - top + 4); g.clip();
    p.lines.forEach(([colour, v], k) => {
      g.strokeStyle = css(colour); g.lineWidth = 1.5; g.setLineDash(patterns[k]); g.beginPath();
      let down = false;
      for (let i = a; i <= b; i++) { if (p.unit === "s" && !v[i]) { continue; } down ? g.lineTo(x(f.at[i]), y(v[i])) : g.moveTo(x(f.at[i]), y(v[i])); down = true; }
      g.stroke();
    });
    g.setLineDash([]);
    g.textAlign = "center";
    if (p.marks) for (const [colour, sign, , of] of marks) {
      g.fillStyle = g.strokeStyle = css(colour); g.lineWidth = 3;
      for (let i = a; i <= b; i++) {
        const v = of(i), px = x(f.at[i]);
        if (!v) continue;
        if (sign === "┃") { g.beginPath(); g.moveTo(px, y(f.una[i])); g.lineTo(px, y(v)); g.stroke(); } else g.fillText(sign, px, y(v) + 4);
      }
    }
    g.restore();
    g.textAlign = "left";
    key(g, w, entries(p));
  }
  function show(a, b) { const width = Math.min(Math.max(b - a, (end - begin) / 1e5), end - begin); from = Math.min(Math.max(a, begin), end - width); to = from + width; draw(); }
  const time = (c, e) => { const r = c.getBoundingClientRect(); return from + (e.clientX - r.left - left) / (r.width - left - 6) * (to - from); };
  const zoom = (t, k) => show(t - (t - from) * k, t + (to - t) * k);
  let held = null;
  for (const { canvas: c } of panels) {
    c.addEventListener("wheel", e => { if (!e.ctrlKey && !e.shiftKey) return; e.preventDefault(); zoom(time(c, e), (e.deltaY || e.deltaX) > 0 ? 1.25 : .8); }, { passive: false });
    c.addEventListener("pointerdown", e => { held = time(c, e); c.setPointerCapture(e.pointerId); });
    c.addEventListener("pointerup", () => { held = null; });
    c.addEventListener("pointermove", e => { const t = time(c, e); if (held !== null) { show(from + held - t, to + held - t); return; } cursor = t < from || t > to ? null : t; draw(); });
    c.addEventListener("pointerleave", () => { cursor = null; draw(); });
    c.addEventListener("dblclick", () => show(begin, end));
    c.addEventListener("keydown", e => {
      const w = to - from, m = (from + to) / 2, go = { "+": () => zoom(m, .8), "-": () => zoom(m, 1.25), "0": () => show(begin, end), ArrowLeft: () => show(from - w / 5, to - w / 5), ArrowRight: () => show(from + w / 5, to + w / 5) }[e.key];
      if (go) { e.preventDefault(); go(); }
    });
  }
  addEventListener("resize", draw); for (const m of ["(prefers-color-scheme: dark)", "print"]) matchMedia(m).addEventListener("change", draw);
  draw();
}
for (const box of document.querySelectorAll(".flow")) flow(box, JSON.parse(box.querySelector("script").textContent));
