// Reads item files as tic 1.26 does, from a JSON list of texts on stdin, and writes
// what it makes of them: written after its documented behaviour, over the YAML
// library and version that it uses.
import { pathToFileURL } from "node:url";

const { parse } = await import(pathToFileURL(process.argv[2] + "/yaml/dist/index.js"));

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const texts = JSON.parse(Buffer.concat(chunks).toString("utf8"));

function read(text) {
  const front = /^---\r?\n([\s\S]*?)\r?\n---[^\n]*(?:\n|$)/.exec(text);
  const data = front ? (parse(front[1]) ?? {}) : {};
  const body = front ? text.slice(front[0].length) : text;
  const heading = body.indexOf("## Comments");
  return {
    id: String(data.id),
    title: data.title,
    type: data.type,
    status: data.status,
    iteration: data.iteration,
    priority: data.priority,
    assignee: data.assignee ?? "",
    labels: data.labels ?? [],
    created: data.created,
    updated: data.updated,
    parent: data.parent == null ? null : String(data.parent),
    dependsOn: Array.isArray(data.depends_on) ? data.depends_on.map(String) : [],
    description: (heading < 0 ? body : body.slice(0, heading)).trim(),
    comments: heading < 0 ? [] : comments(body.slice(heading + "## Comments".length)),
  };
}

function comments(text) {
  return text.trim().split("\n---\n").filter((b) => b.trim() !== "").map((block) => {
    const lines = block.split("\n");
    while (lines.length > 0 && lines[0] === "---") lines.shift();
    const comment = { author: "", date: "", body: "" };
    while (lines.length > 0) {
      const meta = /^(author|date): (.*)$/.exec(lines[0]);
      if (!meta) break;
      comment[meta[1]] = meta[2];
      lines.shift();
    }
    comment.body = lines.join("\n").trim();
    return comment;
  });
}

process.stdout.write(JSON.stringify(texts.map(read)));
