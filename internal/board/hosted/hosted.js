// The view sends its calls through its host to the server. It shows the HTML that the server
// rendered and escaped, or the text of the answer if there is none.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const root = document.documentElement;
  let sent = 0;
  const waiting = new Map();
  const post = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const notify = (method, params) => post({ method, params });
  const request = (method, params) => new Promise((resolve, reject) => {
    waiting.set(++sent, { resolve, reject });
    post({ id: sent, method, params });
  });

  // ---- the tool and its answer ----
  let tool = document.body.dataset.tool;
  let args = {};

  const say = (text) => { byId("notice").textContent = text; };
  const text = (result) => (result.content || []).filter((c) => c.type === "text").map((c) => c.text).join("\n");
  // route returns the action of a link in this view, null for none.
  const route = (link) => {
    const href = link.getAttribute("href") || "";
    const item = /^items\/(\d+)(?:[?#]|$)/.exec(href);
    if (item) return () => open(Number(item[1]));
    if (tool === "get_stack_status" && href.startsWith("stacks?")) {
      const branch = new URLSearchParams(href.slice("stacks?".length)).get("branch");
      if (branch) return () => ask(tool, { branch });
    }
    if (/^https?:/.test(href)) return () => request("ui/open-link", { url: href }).catch((err) => say(String(err.message)));
    return null;
  };
  const show = (result) => {
    say("");
    const html = result._meta?.["copse/html"];
    if (result.isError) { say(text(result)); return; }
    if (typeof html !== "string") {
      const pre = document.createElement("pre");
      pre.className = "out";
      pre.textContent = text(result);
      byId("list").replaceChildren(pre);
      byId("list").removeAttribute("aria-busy");
      return;
    }
    const t = document.createElement("template");
    t.innerHTML = html;
    for (const link of t.content.querySelectorAll("a")) {
      if (route(link)) continue;
      const plain = document.createElement("span");
      plain.append(...link.childNodes);
      link.replaceWith(plain);
    }
    for (const part of [...t.content.children]) byId(part.id)?.replaceWith(part);
  };
  const call = async (name, given) => {
    try {
      return await request("tools/call", { name, arguments: given });
    } catch (err) {
      say(String(err.message || "The host did not respond."));
      return null;
    }
  };
  const ask = async (name, given) => {
    const result = await call(name, given);
    if (result) show(result);
    return result;
  };
  const again = (more) => ask(tool, tool === "get_stack_status" ? { ...args, cached: undefined, fresh: true } : { ...args, ...more });
  const open = async (id) => {
    await ask("show_item", { id });
    byId("item").scrollIntoView({ block: "nearest" });
  };
  // Each form of the page is a tool call here.
  const changes = {
    update: (id, form) => ["update_item", { id, status: form.get("status") }],
    comment: (id, form) => ["add_comment", { id, text: form.get("text") }],
    claim: (id, form) => ["claim_item", { id, steal: form.has("steal") }],
    release: (id) => ["release_item", { id }],
  };
  const send = async (form) => {
    const [, id, action] = /^items\/(\d+)\/([a-z]+)/.exec(form.getAttribute("action")) || [];
    if (!changes[action] || !form.reportValidity()) return;
    const done = await call(...changes[action](Number(id), new FormData(form)));
    if (done?.isError) { say(text(done)); return; }
    if (done) { await again(); await open(Number(id)); }
  };

  document.addEventListener("click", (event) => {
    const at = event.target.closest("button, a");
    if (!at) return;
    event.preventDefault(); // addresses of the page mean nothing in the host
    const { cursor } = at.dataset;
    if (at.matches("a")) route(at)?.();
    else if (at.form) send(at.form); // a sandbox sends no submit event
    else if (cursor) again({ cursor });
    else if ("refresh" in at.dataset) again();
    else if ("close" in at.dataset) byId("item").replaceChildren();
  });
  document.addEventListener("input", (event) => {
    if (event.target.id !== "filter") return;
    const wanted = event.target.value.toLowerCase();
    for (const row of document.querySelectorAll("[data-row]")) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });

  // ---- the host ----
  const colors = {
    "--page": "--color-background-primary", "--surface": "--color-background-secondary", "--ink": "--color-text-primary",
    "--ink2": "--color-text-secondary", "--ink3": "--color-text-tertiary", "--line": "--color-border-secondary",
    "--line2": "--color-border-primary", "--mono": "--font-mono",
    "--green": "--color-text-success", "--green-ground": "--color-background-success",
    "--amber": "--color-text-warning", "--amber-ground": "--color-background-warning",
    "--red": "--color-text-danger", "--red-ground": "--color-background-danger",
    "--blue": "--color-text-info", "--blue-ground": "--color-background-info",
  };
  const dress = (context) => {
    if (context.theme === "light" || context.theme === "dark") root.dataset.theme = context.theme;
    const given = context.styles?.variables || {};
    for (const [own, theirs] of Object.entries(colors)) if (given[theirs]) root.style.setProperty(own, given[theirs]);
    if (given["--font-sans"]) document.body.style.fontFamily = given["--font-sans"];
    if (context.toolInfo?.tool?.name) tool = context.toolInfo.tool.name;
  };
  const answers = {
    "ui/notifications/tool-input": (params) => { args = params.arguments || {}; },
    "ui/notifications/tool-result": show,
    "ui/notifications/tool-cancelled": (params) => say(params.reason ? `The call was canceled: ${params.reason}` : "The call was canceled."),
    "ui/notifications/host-context-changed": dress,
  };
  addEventListener("message", (event) => {
    const message = event.data;
    if (event.source !== parent || message?.jsonrpc !== "2.0") return;
    if (!message.method) {
      const one = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.error) one?.reject(message.error); else one?.resolve(message.result);
      return;
    }
    if (message.id === undefined) { answers[message.method]?.(message.params || {}); return; }
    if (message.method === "ping" || message.method === "ui/resource-teardown") post({ id: message.id, result: {} });
    else post({ id: message.id, error: { code: -32601, message: "The view does not have this method" } });
  });
  let height = 0;
  new ResizeObserver(() => {
    const now = Math.ceil(document.querySelector("main").getBoundingClientRect().height);
    if (now !== height) notify("ui/notifications/size-changed", { height: height = now });
  }).observe(document.querySelector("main"));
  request("ui/initialize", {
    protocolVersion: "2026-01-26", appInfo: { name: "copse", version: "1" }, appCapabilities: {},
  }).then((result) => {
    dress(result.hostContext || {});
    notify("ui/notifications/initialized", {});
  }, (err) => say(String(err.message)));
})();
