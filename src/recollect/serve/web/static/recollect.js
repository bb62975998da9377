/* recollect: what the page does without asking the server. Focus, threads, dialogs, keys; no inline
   handlers, no eval. Everything that changes something is a form, and works without this file. */
(() => {
  "use strict";
  const $ = (s, at = document) => at.querySelector(s);
  const $$ = (s, at = document) => [...at.querySelectorAll(s)];
  const root = document.documentElement;
  const narrow = matchMedia("(max-width: 52rem)");
  const keep = {
    get: k => { try { return localStorage.getItem(k); } catch { return null; } },
    set: (k, v) => { try { localStorage.setItem(k, v); } catch { /* private mode */ } },
  };

  /* theme and density: remembered in this browser */
  for (const k of ["theme", "density"]) { const v = keep.get(k); if (v) root.dataset[k] = v; }
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const flip = (k, v) => { root.dataset[k] = v; keep.set(k, v); requestAnimationFrame(draw); };
  const flipTheme = () => flip("theme", dark() ? "light" : "dark");
  const flipDensity = () => flip("density", root.dataset.density === "roomy" ? "dense" : "roomy");

  function toast(text) {
    const t = document.createElement("div");
    t.className = "toast";
    t.append(Object.assign(document.createElement("span"), { textContent: text }));
    $(".toasts").replaceChildren(t);
    setTimeout(() => t.remove(), 8000);
  }

  /* threads: a curve from each line of the pack to its entry; the chosen one is gold */
  function draw() {
    const split = $(".split"), svg = $(".threads svg");
    if (!split || !svg || narrow.matches) return;
    const box = svg.getBoundingClientRect();
    const left = $(".pane--l", split).getBoundingClientRect(), right = $(".pane--r", split).getBoundingClientRect();
    const paths = [];
    const lines = $$("[data-thread]:not([data-quiet])", split), many = lines.length > 150;
    for (const a of lines) {
      const b = document.getElementById(a.dataset.thread);
      if (!b?.offsetParent || !a.offsetParent) continue;
      const ra = a.getBoundingClientRect(), rb = b.getBoundingClientRect();
      const y1 = ra.top + Math.min(ra.height / 2, 14), y2 = rb.top + Math.min(rb.height / 2, 14);
      const on = b.classList.contains("is-on");
      if ((many || y1 < left.top || y1 > left.bottom || y2 < right.top || y2 > right.bottom) && !on) continue;
      const c1 = Math.max(left.top, Math.min(left.bottom, y1)) - box.top, c2 = Math.max(right.top, Math.min(right.bottom, y2)) - box.top;
      const p = document.createElementNS("http://www.w3.org/2000/svg", "path");
      p.setAttribute("d", `M0 ${c1}C${box.width * .5} ${c1} ${box.width * .5} ${c2} ${box.width} ${c2}`);
      p.setAttribute("class", `is-${a.dataset.trust || "user"}${on ? " is-on" : ""}`);
      on ? paths.push(p) : paths.unshift(p);
    }
    svg.replaceChildren(...paths);
  }

  /* choosing: a line opens its entry, a hit its preview, a turn or a row takes the focus */
  function choose(a, { scroll = true, focus = true } = {}) {
    $$("[data-nav][aria-current]").forEach(x => x.removeAttribute("aria-current"));
    $$(".entry.is-on").forEach(x => x.classList.remove("is-on"));
    a.setAttribute("aria-current", "true");
    if (focus) a.focus({ preventScroll: !scroll });
    if (a.dataset.blame) return chooseChange(a, scroll);
    const entry = a.dataset.thread ? document.getElementById(a.dataset.thread) : a.closest(".entry");
    if (entry) {
      entry.classList.add("is-on");
      const top = $(".entry__top", entry);
      if (top) htmx.trigger(top, "choose");
      const pane = entry.closest(".pane");
      if (scroll && pane && !pane.contains(a)) pane.scrollTop += entry.getBoundingClientRect().top - pane.getBoundingClientRect().top - 60;
      if (narrow.matches && a.dataset.thread) entry.scrollIntoView({ block: "center" });
    }
    if (a.dataset.preview) htmx.ajax("GET", a.dataset.preview, { target: "#pv", swap: "innerHTML" });
    draw();
  }

  /* a file's line: the change that wrote it, and all lines of that change */
  function chooseChange(a, scroll) {
    $$(".change.is-on, .blame li.is-on").forEach(x => x.classList.remove("is-on"));
    const change = document.getElementById(a.dataset.blame);
    $$(`.blame [data-thread="${CSS.escape(a.dataset.blame)}"]`).forEach(x => x.classList.add("is-on"));
    if (!change) return draw();
    change.classList.add("is-on");
    const pane = change.closest(".pane");
    if (scroll && !narrow.matches) pane.scrollTop += change.getBoundingClientRect().top - pane.getBoundingClientRect().top - 60;
    if (scroll && narrow.matches) change.scrollIntoView({ block: "start" });
    draw();
  }

  /* dialogs */
  function open(id) {
    const d = document.getElementById(id);
    if (!d || d.open) return;
    $$("dialog[open]").forEach(x => x.close());
    d.showModal();
    (d.querySelector("input, [autofocus]") || d).focus();
    if (id === "palette") filter("");
  }
  function filter(q) {
    const only = q[0] === ">" ? "Do" : q[0] === "#" ? "Sessions" : null;
    const words = (only ? q.slice(1) : q).toLowerCase().split(/\s+/).filter(Boolean);
    let first = null;
    for (const g of $$("#palette [role=group]")) {
      let any = false;
      for (const o of $$(".opt", g)) {
        const ok = (!only || g.getAttribute("aria-label") === only) && words.every(w => o.textContent.toLowerCase().includes(w));
        o.hidden = !ok; any ||= ok; o.setAttribute("aria-selected", "false");
        if (ok) first ||= o;
      }
      g.hidden = !any;
    }
    $("#palette .opt-none").hidden = !!first;
    pick(first);
  }
  /* sessions by title come from the server, as somebody types */
  let asking = 0;
  async function sessionsFor(q) {
    const mine = ++asking, words = q.replace(/^[#>]/, "").trim();
    if (q[0] === ">" || words.length < 2) return;
    const answer = await fetch(`/palette?q=${encodeURIComponent(words)}`);
    if (mine !== asking || !answer.ok) return;
    $("#palette-sessions").innerHTML = await answer.text();
    filter(q);
  }
  function pick(o) {
    $$("#palette .opt[aria-selected=true]").forEach(x => x.setAttribute("aria-selected", "false"));
    if (!o) return;
    o.setAttribute("aria-selected", "true");
    o.scrollIntoView({ block: "nearest" });
    $("#palette input").setAttribute("aria-activedescendant", o.id);
  }
  function run(o) {
    const does = { "!theme": flipTheme, "!density": flipDensity, "!help": () => open("help") }[o.dataset.href];
    if (!does) { location.href = o.dataset.href; return; }
    $("#palette").close();
    does();
  }
  $("#palette input")?.addEventListener("input", e => { filter(e.target.value); sessionsFor(e.target.value); });
  $("#palette")?.addEventListener("keydown", e => {
    const all = $$("#palette .opt").filter(o => !o.hidden && !o.parentElement.hidden);
    const i = all.findIndex(o => o.getAttribute("aria-selected") === "true");
    if (e.key === "ArrowDown" || e.key === "ArrowUp") { e.preventDefault(); pick(all[(i + (e.key === "ArrowDown" ? 1 : -1) + all.length) % all.length]); }
    if (e.key === "Enter") { e.preventDefault(); i >= 0 ? run(all[i]) : location.assign(`/search?q=${encodeURIComponent($("#palette input").value)}`); }
  });

  /* clicks */
  document.addEventListener("click", e => {
    if (e.target.matches("dialog")) return e.target.close();
    const t = e.target.closest("[data-open],[data-close],[data-copy],[data-copy-next],[data-theme-toggle],[data-density-toggle],[data-nav],.opt,[data-fold],[data-sift],[data-show-pane]");
    if (!t) return;
    const d = t.dataset;
    if ("close" in d) return t.closest("dialog").close();
    if (d.open) return open(d.open);
    if (d.copy) { navigator.clipboard?.writeText(d.copy); return toast("Copied"); }
    if ("copyNext" in d) { navigator.clipboard?.writeText(t.nextElementSibling.textContent); return toast("Copied"); }
    if ("themeToggle" in d) return flipTheme();
    if ("densityToggle" in d) return flipDensity();
    if ("fold" in d) return fold();
    if (d.showPane) { $(".split").dataset.show = d.showPane; return scrollTo(0, 0); }
    if (d.sift) { t.setAttribute("aria-pressed", t.getAttribute("aria-pressed") !== "true"); return sift(); }
    if (t.matches(".opt")) return run(t);
    // Beside each other there is no room for two panes: the line leads to its page.
    if (narrow.matches && d.thread && t.matches(".line")) return;
    if ("nav" in d && (d.thread || d.preview || d.blame || "entry" in d) && !e.ctrlKey && !e.metaKey) { e.preventDefault(); choose(t); }
  });
  document.addEventListener("submit", e => {
    const sure = e.submitter?.dataset.confirm;
    if (sure && !confirm(sure)) e.preventDefault();
  });

  function fold() {
    const calls = $$(".spine details.call"), any = calls.some(x => x.open);
    calls.forEach(x => { x.open = !any; });
    const label = $("[data-fold] span");
    if (label) label.textContent = any ? "Open all" : "Fold all";
  }

  /* keys: single letters, never while typing; g then a letter goes somewhere */
  let chord = false;
  const pages = Object.fromEntries($$("#palette .opt[id^='go-']").map(o => [o.lastElementChild.textContent.trim().split(" ")[1], o.dataset.href]).filter(([k]) => k));
  document.addEventListener("keydown", e => {
    if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k") { e.preventDefault(); return open("palette"); }
    const typing = e.target.matches("input, textarea, select");
    if (e.key === "Escape" && typing && !e.target.closest("dialog")) { e.target.closest("details.editing")?.removeAttribute("open"); return e.target.blur(); }
    if (e.key === "Enter" && e.target.matches("textarea[data-send]") && !e.shiftKey && !e.isComposing) { e.preventDefault(); return e.target.form.requestSubmit(); }
    if (typing || e.ctrlKey || e.metaKey || e.altKey || $("dialog[open]")) return;
    if (chord) { chord = false; if (pages[e.key]) { e.preventDefault(); location.href = pages[e.key]; } return; }
    if (e.key === "g") { chord = true; setTimeout(() => { chord = false; }, 900); return; }
    if (e.key === "?") return open("help");
    if (e.key === "/") { const f = $("[data-find]"); e.preventDefault(); if (f) { f.focus(); f.select(); } else location.href = "/search"; return; }
    if (e.key === "j" || e.key === "k") {
      const all = $$("[data-nav]").filter(x => x.offsetParent), i = all.findIndex(x => x.hasAttribute("aria-current"));
      const next = all[i < 0 ? 0 : Math.max(0, Math.min(all.length - 1, i + (e.key === "j" ? 1 : -1)))];
      if (next) { e.preventDefault(); choose(next); next.scrollIntoView({ block: $(".spine") ? "start" : "nearest" }); }
      return;
    }
    if ($(".spine")) {
      if (e.key === ".") return fold();
      if (e.key === "r") return $(".rail [data-copy]")?.click();
      if (e.key === "n") { const bad = $$(".turn--bad"), at = bad.find(t => t.getBoundingClientRect().top > 120) || bad[0]; return at?.scrollIntoView({ block: "start" }); }
    }
    if (e.key === "o") { const on = $(".entry.is-on .ev a, .change.is-on .meta a") || $("[data-nav][aria-current]"); if (on?.href) location.href = on.href; return; }
    const button = $(`.toasts [data-key="${CSS.escape(e.key)}"]`) || $(`.entry.is-on [data-key="${CSS.escape(e.key)}"]`) || $(`[data-keys] [data-key="${CSS.escape(e.key)}"]`);
    if (button) {
      e.preventDefault();
      button.click();
      button.closest("details")?.querySelector("textarea, select, input:not([type=hidden])")?.focus();
    }
  });

  /* a long session: the turns far above the view go, with a link that brings them back; a
     document of 1,500 turns takes five times as long for a frame as one of 500 */
  const MOST_TURNS = 400;
  document.body.addEventListener("htmx:afterSettle", () => {
    const turns = $$(".spine article.turn"), kept = turns[turns.length - MOST_TURNS];
    if (!kept || kept === turns[0]) return;
    const top = kept.getBoundingClientRect().top;
    if (top > -innerHeight) return;
    while (kept.previousElementSibling?.matches("article.turn, .window")) kept.previousElementSibling.remove();
    const n = turns[turns.length - MOST_TURNS - 1].id.slice(5);
    kept.insertAdjacentHTML("beforebegin", '<p class="window"><a class="btn">Earlier turns</a></p>');
    kept.previousElementSibling.firstChild.href = `${location.pathname}?at=${n}#turn-${n}`;
    scrollBy(0, kept.getBoundingClientRect().top - top);
  });

  /* sifting the long form by trust and by words */
  function sift() {
    const on = $$("[data-sift][aria-pressed=true]").map(x => x.dataset.sift), q = ($("#sift")?.value || "").trim().toLowerCase();
    $$(".long .entry").forEach(x => { x.parentElement.hidden = (on.length > 0 && !on.includes(x.dataset.trust)) || (q !== "" && !x.textContent.toLowerCase().includes(q)); });
    $$(".long > section").forEach(x => { x.hidden = !$$(".entries > li", x).some(li => !li.hidden); });
    draw();
  }
  $("#sift")?.addEventListener("input", sift);

  /* a session that is being written: new turns come as they are written; nobody is scrolled */
  const live = $("[data-live]");
  if (live && "EventSource" in window) {
    const source = new EventSource(`/events?session=${encodeURIComponent(live.dataset.live)}`);
    source.addEventListener("changed", async e => {
      const last = Number(live.dataset.last);
      const now = JSON.parse(e.data);
      if (!now.turns || (now.first && now.turns <= last) || $("[hx-trigger=revealed]", live)) return;
      // The last turn may have grown, so it comes again.
      const answer = await fetch(`/turns?session=${encodeURIComponent(live.dataset.live)}&after=${Math.max(0, last - 1)}`, { headers: { "HX-Request": "true" } });
      if (!answer.ok) return;
      const box = document.createElement("template");
      box.innerHTML = await answer.text();
      const spine = $(".spine", live), atEnd = innerHeight + scrollY >= document.body.scrollHeight - 80;
      let fresh = 0;
      for (const turn of $$("article.turn", box.content)) {
        const there = document.getElementById(turn.id);
        if (there) { if (there.innerHTML !== turn.innerHTML) there.replaceWith(turn); } else { spine.append(turn); fresh++; }
        live.dataset.last = turn.id.slice(5);
      }
      if (fresh && !atEnd) toast(`${fresh} new turn${fresh === 1 ? "" : "s"} below`);
      else if (fresh) spine.lastElementChild.scrollIntoView({ block: "end" });
    });
    addEventListener("pagehide", () => source.close());
  }

  /* home: what is new since this browser was here last */
  const since = $("#since");
  if (since) {
    const last = keep.get("seen"), fresh = last ? $$("li[data-at]").filter(x => x.dataset.at > last) : [];
    fresh.forEach(x => $(".row__t", x).after(Object.assign(document.createElement("span"), { className: "tag", textContent: "new" })));
    if (last) {
      since.textContent = `${fresh.length || "Nothing"} new since you were here last, ${new Date(last).toLocaleString(undefined, { weekday: "short", hour: "2-digit", minute: "2-digit", hour12: false, timeZoneName: "short" })}.`;
      since.hidden = false;
    }
    addEventListener("pagehide", () => keep.set("seen", new Date().toISOString()));
  }

  // After htmx has read the page.
  document.addEventListener("DOMContentLoaded", () => {
    const linked = location.hash && $(`[data-thread="${CSS.escape(location.hash.slice(1))}"]`);
    const first = linked || $(`.blame [data-blame="${$(".change")?.id}"]`) || $(".line[data-thread], .blame [data-nav]");
    if (first) choose(first, { scroll: !!linked, focus: false });
  });
  $$(".pane").forEach(p => p.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true }));
  addEventListener("resize", () => requestAnimationFrame(draw));
  document.fonts?.ready.then(draw);
})();
