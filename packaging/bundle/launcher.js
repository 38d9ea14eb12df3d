#!/usr/bin/env node
// Starts the copse of this platform, which is a package of its own. Input, output and
// signals are the program's; so is the exit code.
"use strict";
const { spawn } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "copse.exe" : "copse";
let program;
try {
  program = require.resolve(`@copse-dev/copse-${platform}/bin/${file}`);
} catch {
  console.error(`copse: there is no package for ${platform}, or it was left out when npm installed this one ` +
    "(--omit=optional). Install again without that, or see https://github.com/copse-dev/copse.");
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of signals) process.on(signal, () => child.kill(signal));
child.on("error", (err) => {
  console.error(`copse: ${err.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  for (const s of signals) process.removeAllListeners(s);
  process.kill(process.pid, signal);
});
