// Writes front matters of hostile texts as the original writes them, with the YAML
// library and version that it uses, and what that library reads back from each:
// node hostile.mjs NODE_MODULES SEED COUNT.
import { pathToFileURL } from "node:url";

const [modules, seed, count] = process.argv.slice(2);
const { stringify, parse } = await import(pathToFileURL(modules + "/yaml/dist/index.js"));

let state = Number(seed) >>> 0;
function below(n) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * n);
}

const pieces = [
  "\t", "\n", "\n\n", " ", "  ", "\r", "\r\n", "\0", "\x07", "\x1b", "\x85", "\xa0", "\u2028", "\u2029", "\u202e", "\ufeff", "\ud800",
  "a", "word", "é", "日本", "🙂", "x".repeat(90), "a run of words that goes on past the width of a line, so that it is folded somewhere",
  ": ", "key:", "key: value", "#", " #", "# c", "- ", "---", "--- ", "...", "|", "|-", ">", "'", '"', "\\", "[", "]", "{", "}", ",", "? ", "?",
  "&a", "*a", "!", "!!str", "%", "@", "`", "=", "<<", "~", "null", "true", "yes", "1", "1.5", "0x1f", "$",
];
function text() {
  let s = "";
  for (let n = below(8); n > 0; n--) s += pieces[below(pieces.length)];
  return s;
}

const files = [];
for (let i = 0; i < Number(count); i++) {
  const yaml = stringify({
    id: String(i + 1), title: text(), type: "task", status: text(), iteration: text(), priority: "low", assignee: text(),
    labels: Array.from({ length: below(4) }, text), created: "2026-01-02T03:04:05.678Z", updated: "2026-01-02T03:04:05.678Z",
  });
  const { title, status, iteration, assignee, labels } = parse(yaml);
  files.push({ yaml, title, status, iteration, assignee, labels });
}
process.stdout.write(JSON.stringify(files, null, 1) + "\n");
