// The page works without this script. With it, links and forms replace only the elements that
// differ, changes of other programs appear, and keys move the selection. Idiomorph compares the elements.
"use strict";
(() => {
  const meta = (name) => document.querySelector(`meta[name="${name}"]`);
  const byId = (id) => document.getElementById(id);
  const base = () => new URL(document.baseURI).pathname;
  const inside = (url) => url.origin === location.origin && url.pathname.startsWith(base());
  let stream = null;
  let version = "";
  let lost = 0; // when the stream ended, 0 while it is open
  let busy = null; // the request in flight

  // ---- updates ----
  const morphing = {
    morphStyle: "outerHTML",
    ignoreActiveValue: true,
    callbacks: {
      // Keep what a person opened, typed, or scrolled.
      beforeNodeMorphed: (old, now) => {
        if (old instanceof HTMLDetailsElement && now instanceof HTMLDetailsElement && old.id === now.id) now.open = old.open;
        return true;
      },
    },
  };
  const flash = (el) => {
    if (!el || !el.matches?.(".row, .block, .card > header, .card > footer")) return;
    el.classList.remove("changed");
    void el.offsetWidth;
    el.classList.add("changed");
  };
  const fragment = (html) => {
    const t = document.createElement("template");
    t.innerHTML = html;
    return t.content;
  };
  const apply = (step) => {
    const el = byId(step.id);
    switch (step.op) {
      case "reload": refresh(); return true;
      case "remove": el?.remove(); return true;
    }
    if (!el) return false;
    switch (step.op) {
      case "morph": {
        const now = fragment(step.html).firstElementChild;
        Idiomorph.morph(el, now, morphing);
        flash(byId(step.id));
        return true;
      }
      case "add": {
        const now = fragment(step.html).firstElementChild;
        el.insertBefore(now, step.before ? byId(step.before) : null);
        flash(now);
        return true;
      }
      case "order": {
        const focus = document.activeElement;
        for (const id of step.ids) { const one = byId(id); if (one) el.append(one); }
        if (focus && focus !== document.activeElement && el.contains(focus)) focus.focus({ preventScroll: true });
        return true;
      }
    }
    return false;
  };
  const listen = () => {
    stream?.close();
    stream = null;
    delete document.documentElement.dataset.live;
    if (document.hidden || !meta("board-live")) return;
    const url = new URL(meta("board-live").content, document.baseURI);
    url.searchParams.set("board_version", version);
    const mine = stream = new EventSource(url);
    mine.onmessage = (event) => {
      if (mine !== stream) return;
      const steps = JSON.parse(event.data);
      const complete = steps.every(apply);
      version = event.lastEventId;
      // A page that reloads reconnects by itself.
      if (complete && !steps.some((step) => step.op === "reload")) document.documentElement.dataset.live = "true";
      if (!complete) refresh();
      polish();
    };
    mine.onopen = () => { lost = 0; byId("lost").textContent = ""; };
    mine.onerror = async () => {
      mine.close();
      if (mine !== stream) return;
      delete document.documentElement.dataset.live;
      // The first error after a connection can be its regular end. Then a new one succeeds.
      const wait = lost ? await explain() : 500;
      lost ||= Date.now();
      setTimeout(() => { if (mine === stream) listen(); }, wait);
    };
  };
  // explain says that the page is not up to date, and returns how long to wait. A server that has restarted has
  // another address and refuses this one.
  const explain = async () => {
    const icon = document.querySelector("link[rel=icon]").href;
    const refused = await fetch(icon, { method: "HEAD", cache: "no-store" }).then((res) => res.status === 401, () => false);
    const since = new Date(lost).toTimeString().slice(0, 5);
    byId("lost").textContent = refused ? "The server has restarted or the login has expired: run copse board" : `Not connected since ${since}; trying again`;
    return refused ? 30000 : 3000;
  };

  // ---- visits ----
  // A person's request has priority, and returns a new page anyway.
  const refresh = () => { if (!busy) visit(location.href, { push: false, keep: true }); };
  const take = (doc, url, how) => {
    const app = doc.getElementById("app");
    if (!app) { location.href = url; return; }
    for (const name of ["board-token", "board-live"]) {
      meta(name)?.remove();
      const now = doc.querySelector(`meta[name="${name}"]`);
      if (now) document.head.append(now);
    }
    version = doc.getElementById("version").value;
    document.title = doc.title;
    document.body.className = doc.body.className;
    document.querySelector(".skip").setAttribute("href", doc.querySelector(".skip").getAttribute("href"));
    Idiomorph.morph(byId("app"), app, morphing);
    say(doc.getElementById("notice")?.innerHTML || "");
    if (how.push) history.pushState(null, "", url);
    else if (how.replace) history.replaceState(null, "", url);
    if (!how.keep) {
      if (how.push) scrollTo(0, 0);
      const at = document.querySelector("[data-focus]");
      at?.focus();
      if (at?.matches("input")) at.setSelectionRange(at.value.length, at.value.length);
    }
    polish();
    listen();
  };
  const visit = async (url, how = { push: true }) => {
    busy?.abort();
    const mine = busy = new AbortController();
    try {
      const res = await fetch(url, { signal: mine.signal, headers: { Accept: "text/html" } });
      const text = await res.text();
      if (mine !== busy) return;
      busy = null;
      take(new DOMParser().parseFromString(text, "text/html"), res.url, how);
    } catch (err) {
      if (mine === busy) busy = null;
      if (err.name !== "AbortError") say("The server does not respond. Is copse up still running?", true);
    }
  };
  const send = async (form, button) => {
    const data = new URLSearchParams(new FormData(form, button));
    // The response is the page to show. Updates that this form causes must not arrive before it.
    stream?.close();
    stream = null;
    busy?.abort();
    busy = null;
    try {
      const res = await fetch(button?.formAction && button.hasAttribute("formaction") ? button.formAction : form.action, {
        method: "POST", body: data, headers: { "X-Board-Token": meta("board-token").content },
      });
      const doc = new DOMParser().parseFromString(await res.text(), "text/html");
      const failed = doc.getElementById("failed");
      if (failed) { say(failed.textContent, true); listen(); return; }
      form.closest("dialog")?.close();
      take(doc, res.url, { push: res.url !== location.href });
    } catch {
      say("The server did not respond. Reload the page to see whether the change was made.", true);
      listen();
    }
  };
  let quiet = 0;
  const say = (html, plain) => {
    const at = byId("notice");
    if (plain) at.textContent = html; else at.innerHTML = html;
    clearTimeout(quiet);
    if (html) quiet = setTimeout(() => { if (!at.contains(document.activeElement)) at.replaceChildren(); }, 8000);
  };

  document.addEventListener("click", (event) => {
    const copy = event.target.closest("[data-copy]");
    if (copy) {
      navigator.clipboard.writeText(copy.dataset.copy).then(() => say("Copied.", true), () => say("The browser did not allow copying.", true));
      return;
    }
    const link = event.target.closest("a[href]");
    if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || link.target) return;
    const url = new URL(link.href);
    if (!inside(url)) return;
    if (url.pathname === base() + "keys") { event.preventDefault(); byId("keys").showModal(); return; }
    if (url.hash && url.pathname === location.pathname && url.search === location.search) return;
    event.preventDefault();
    visit(url.href);
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method === "dialog") return;
    event.preventDefault();
    if (form.method === "post") { send(form, event.submitter); return; }
    find(form, true);
  });
  const find = (form, push) => {
    const url = new URL(form.action);
    url.search = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== "")).toString();
    visit(url.href, { push, replace: !push, keep: true });
  };
  let typing = 0;
  document.addEventListener("input", (event) => {
    const form = event.target.form;
    if (!form || !form.matches("[data-live]")) return;
    clearTimeout(typing);
    typing = setTimeout(() => find(form, !location.href.startsWith(form.action)), 80);
  });
  addEventListener("popstate", () => visit(location.href, { push: false }));

  // ---- keys ----
  const rows = () => [...document.querySelectorAll("#sections [data-row] a.open")].filter((a) => a.getClientRects().length);
  const move = (by) => {
    const all = rows();
    if (!all.length) return;
    let at = all.indexOf(document.activeElement?.closest?.("[data-row]")?.querySelector("a.open"));
    if (at < 0) { at = all.indexOf(document.querySelector("[data-row].selected a.open")); if (at < 0) at = by > 0 ? -1 : all.length; }
    const to = all[Math.min(all.length - 1, Math.max(0, at + by))];
    to.focus();
    to.closest("[data-row]").scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return;
    const at = event.target;
    const typingIn = at.matches("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]");
    if (event.key === "Escape") {
      if (document.querySelector("dialog[open]")) return;
      if (typingIn) { at.blur(); return; }
      if (byId("notice").hasChildNodes()) { say(""); return; }
      const close = document.querySelector("#detail:not([hidden]) a.close");
      if (close) { event.preventDefault(); const href = close.href; const row = document.querySelector("[data-row].selected a.open"); visit(href).then(() => row?.isConnected && row.focus()); }
      return;
    }
    if (typingIn || document.querySelector("dialog[open]")) {
      if (event.key === "ArrowDown" && at.id === "find") { event.preventDefault(); move(1); }
      return;
    }
    switch (event.key) {
      case "?": byId("keys").showModal(); break;
      case "/": { const find = byId("find") || document.querySelector("#tools input[type=search]"); if (!find) return; find.focus(); find.select(); break; }
      case "j": move(1); break;
      case "k": move(-1); break;
      case "x": { const box = at.closest?.("[data-row]")?.querySelector("input.pick"); if (!box) return; box.checked = !box.checked; break; }
      case "c": { const create = document.querySelector("[data-create]"); if (!create) return; create.click(); break; }
      default: {
        const n = "123456789".indexOf(event.key);
        const link = n >= 0 && document.querySelectorAll("#nav a")[n];
        if (!link) return;
        link.click();
      }
    }
    event.preventDefault();
  });

  // ---- times and hidden elements ----
  // Times are those of the server, so compare them with its clock.
  let skew = 0;
  const age = (then) => {
    const minutes = Math.floor((Date.now() + skew - then) / 60000);
    if (minutes < -1) return "some time ago";
    if (minutes < 1) return "just now";
    if (minutes < 60) return `${minutes} min ago`;
    if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`;
    return `${Math.floor(minutes / 1440)} days ago`;
  };
  const tick = () => {
    if (document.hidden) return;
    for (const el of document.querySelectorAll("time[datetime]")) {
      const text = age(Date.parse(el.dateTime));
      if (el.textContent !== text && !el.hasAttribute("data-fixed")) el.textContent = text;
    }
  };
  // polish shows the elements that require a script.
  const polish = () => {
    for (const el of document.querySelectorAll("[data-copy][hidden]")) el.hidden = false;
    tick();
  };
  setInterval(tick, 20000);
  document.addEventListener("visibilitychange", () => {
    // Browsers limit the connections to one server, so a hidden page closes its stream.
    if (document.hidden) { stream?.close(); stream = null; lost ||= Date.now(); } else { tick(); listen(); }
  });
  version = byId("version").value;
  skew = Number(meta("board-now").content) - Date.now();
  polish();
  // A person waits for the first paint, so connect after it.
  requestAnimationFrame(() => setTimeout(listen));
})();
