"use strict";
// Draws the flows of the page: panels over one axis of time, zoomed together.
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const steps = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
const short = v => { for (const [f, p] of steps) if (Math.abs(v) >= f) return +(v / f).toPrecision(3) + " " + p; return +v.toPrecision(3) + " "; };
const clock = s => s >= 1 || s === 0 ? +s.toPrecision(5) + " s" : +(s * 1e3).toPrecision(4) + " ms";
const ticks = (from, to, n) => {
  const raw = (to - from) / n, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= raw), out = [];
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) out.push(Math.abs(t) < step / 1e6 ? 0 : t);
  return out;
};
const patterns = [[], [6, 3], [2, 2], [8, 2, 2, 2]];
const left = 74, foot = 22;
function flow(box, f) {
  const n = f.at.length, begin = f.at[0], end = Math.max(f.end, f.at[n - 1] + 1e-6);
  let from = begin, to = end, cursor = null;
  const panels = [
    { title: "sequence", unit: "B", height: 210, lines: [["--a1", f.next, "sent"], ["--a2", f.una, "acknowledged"], ["--a4", f.edge, "edge of the window"]], marks: true },
    { title: "under way", unit: "B", height: 130, lines: [["--a1", f.flight, "under way"], ["--a4", f.window, "window"]] },
    { title: "rate", unit: "bit/s", height: 110, lines: [["--a2", f.rate, "delivered"]] },
    { title: "round trip", unit: "s", height: 110, lines: [["--a3", f.rtt, "round trip"]] },
    { title: "limit", height: 58, spans: true },
  ];
  const said = box.querySelector(".said");
  for (const p of panels) { p.canvas = document.createElement("canvas"); p.canvas.tabIndex = p === panels[0] ? 0 : -1; box.insertBefore(p.canvas, said); }
  const at = t => { let a = 0, b = n - 1; while (a < b) { const m = a + b + 1 >> 1; if (f.at[m] <= t) a = m; else b = m - 1; } return a; };
  const limitAt = t => f.spans.find(s => t < s[1]) || f.spans[f.spans.length - 1];
  function draw() {
    for (const p of panels) {
      const c = p.canvas, w = c.clientWidth, h = p.height, r = devicePixelRatio || 1;
      c.style.height = h + "px"; c.width = w * r; c.height = h * r;
      const g = c.getContext("2d"); g.scale(r, r); g.font = "12px system-ui, sans-serif";
      const x = t => left + (t - from) / (to - from) * (w - left - 6), bottom = h - foot;
      g.fillStyle = css("--soft"); g.strokeStyle = css("--edge"); g.lineWidth = 1;
      for (const t of ticks(from, to, w / 110)) { g.beginPath(); g.moveTo(x(t), 4); g.lineTo(x(t), bottom); g.stroke(); g.textAlign = "center"; g.fillText(clock(t), Math.min(x(t), w - 24), h - 6); }
      g.textAlign = "left"; g.fillStyle = css("--fg");
      if (p.spans) bands(g, x, w, bottom); else curves(g, p, x, w, bottom);
      if (cursor !== null) { g.strokeStyle = css("--fg"); g.beginPath(); g.moveTo(x(cursor), 0); g.lineTo(x(cursor), bottom); g.stroke(); }
    }
    if (cursor === null) { said.textContent = "Point at a moment to read it; wheel or + and − zoom, dragging or arrows move, a double click or 0 shows all."; return; }
    const i = at(cursor), s = limitAt(cursor);
    said.textContent = clock(f.at[i]) + ": " + short(f.flight[i]) + "B under way, window " + short(f.window[i]) + "B, " + short(f.rate[i]) + "bit/s" +
      (f.rtt[i] ? ", round trip " + clock(f.rtt[i]) : "") + (f.again[i] ? ", " + f.again[i] + " sent again" : "") + (s ? "; limit: " + f.names[s[2]] : "");
  }
  function bands(g, x, w, bottom) {
    const colours = ["--a0", "--a1", "--a2", "--a3", "--a4"];
    for (const [a, b, l] of f.spans) {
      if (b < from || a > to) continue;
      const x0 = Math.max(x(a), left), x1 = Math.min(x(b), w - 6);
      g.fillStyle = css(colours[l % 5]); g.globalAlpha = l < 5 ? .85 : .45; g.fillRect(x0, 18, Math.max(x1 - x0, .7), bottom - 18); g.globalAlpha = 1;
      if (x1 - x0 > g.measureText(f.names[l]).width + 8) { g.fillStyle = css("--fg"); g.fillText(f.names[l], x0 + 3, 13); }
    }
    g.fillStyle = css("--fg"); g.fillText("limit", 2, bottom - 6);
  }
  function curves(g, p, x, w, bottom) {
    const a = Math.max(0, at(from) - 1), b = Math.min(n - 1, at(to) + 1);
    let low = Infinity, high = -Infinity;
    p.lines.forEach(([, v], k) => { if (p.lines.length === 3 && k === 2) return; for (let i = a; i <= b; i++) { low = Math.min(low, v[i]); high = Math.max(high, v[i]); } });
    if (p.title !== "sequence") low = 0;
    if (!(high > low)) high = low + 1;
    high += (high - low) * .08;
    const y = v => bottom - (v - low) / (high - low) * (bottom - 18);
    g.fillStyle = css("--soft"); g.textAlign = "right";
    for (const v of ticks(low, high, bottom / 45)) g.fillText(p.unit === "s" ? clock(v) : short(v) + p.unit, left - 6, Math.max(y(v) + 4, 24));
    g.textAlign = "left"; g.save(); g.beginPath(); g.rect(left, 0, w - left - 6, bottom); g.clip();
    p.lines.forEach(([colour, v], k) => {
      g.strokeStyle = css(colour); g.lineWidth = 1.5; g.setLineDash(patterns[k]); g.beginPath();
      let down = false;
      for (let i = a; i <= b; i++) { if (p.unit === "s" && !v[i]) { continue; } down ? g.lineTo(x(f.at[i]), y(v[i])) : g.moveTo(x(f.at[i]), y(v[i])); down = true; }
      g.stroke();
    });
    g.setLineDash([]);
    if (p.marks) { g.fillStyle = css("--a0"); for (let i = a; i <= b; i++) if (f.again[i]) { const px = x(f.at[i]), py = y(f.una[i]); g.beginPath(); g.moveTo(px, py - 5); g.lineTo(px + 4, py + 3); g.lineTo(px - 4, py + 3); g.fill(); } }
    g.restore();
    let at0 = left;
    p.lines.forEach(([colour, , name], k) => { g.strokeStyle = css(colour); g.lineWidth = 2; g.setLineDash(patterns[k]); g.beginPath(); g.moveTo(at0, 9); g.lineTo(at0 + 22, 9); g.stroke(); g.setLineDash([]); g.fillStyle = css("--fg"); g.fillText(name, at0 + 26, 13); at0 += 42 + g.measureText(name).width; });
    if (p.marks) { g.fillStyle = css("--a0"); g.fillText("▲", at0, 13); g.fillStyle = css("--fg"); g.fillText("sent again", at0 + 14, 13); }
  }
  function show(a, b) { const width = Math.min(Math.max(b - a, (end - begin) / 1e5), end - begin); from = Math.min(Math.max(a, begin), end - width); to = from + width; draw(); }
  const time = (c, e) => { const r = c.getBoundingClientRect(); return from + (e.clientX - r.left - left) / (r.width - left - 6) * (to - from); };
  const zoom = (t, k) => show(t - (t - from) * k, t + (to - t) * k);
  let held = null;
  for (const { canvas: c } of panels) {
    c.addEventListener("wheel", e => { e.preventDefault(); zoom(time(c, e), e.deltaY > 0 ? 1.25 : .8); }, { passive: false });
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
  addEventListener("resize", draw); matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
}
for (const box of document.querySelectorAll(".flow")) flow(box, JSON.parse(box.querySelector("script").textContent));
