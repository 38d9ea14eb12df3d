#!/usr/bin/env node
// Starts the program for this platform, which is a separate package. The program gets the input and
// the signals, and its output and exit code are passed on.
"use strict";
const { spawn } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "copse.exe" : "copse";
let program;
try {
  program = require.resolve(`@copse-dev/copse-${platform}/bin/${file}`);
} catch {
  console.error(`copse: the package for ${platform} is not installed. If you installed copse with --omit=optional, ` +
    "install it again without that option. For other platforms, see https://github.com/copse-dev/copse.");
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
