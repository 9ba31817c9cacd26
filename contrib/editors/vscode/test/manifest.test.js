"use strict";
// The manifest against the program: the server is started as the extension does,
// takes every setting that the manifest names, and judges a file. Run with npm test.
const assert = require("node:assert");
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const test = require("node:test");
const rpc = require("vscode-jsonrpc/node");

const manifest = JSON.parse(fs.readFileSync(path.join(__dirname, "..", "package.json")));

test("the server knows every setting of the manifest", async () => {
  const server = spawn(process.env.WIRERATE || "wirerate", ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
  const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(server.stdout), new rpc.StreamMessageWriter(server.stdin));
  const shown = new Promise((resolve) => connection.onNotification("textDocument/publishDiagnostics", resolve));
  const told = [];
  connection.onNotification("window/showMessage", (m) => told.push(m.message));
  connection.listen();
  const settings = {};
  for (const [name, p] of Object.entries(manifest.contributes.configuration.properties)) {
    settings[name.slice("wirerate.".length)] = p.default;
  }
  await connection.sendRequest("initialize", { processId: null, rootUri: null, capabilities: {} });
  await connection.sendNotification("initialized", {});
  await connection.sendNotification("workspace/didChangeConfiguration", { settings: { wirerate: { ...settings, os: "linux", release: "6.12" } } });
  const uri = "untitled:sysctl.conf";
  await connection.sendNotification("textDocument/didOpen", {
    textDocument: { uri, languageId: "wirerate-conf", version: 1, text: "net.ipv4.tcp_tw_recycle = 1\n" } });
  assert.deepStrictEqual((await shown).diagnostics.map((d) => d.code), ["removed"]);
  assert.deepStrictEqual(told, []);
  await connection.sendRequest("shutdown");
  await connection.sendNotification("exit");
  const status = await new Promise((resolve) => server.on("exit", resolve));
  assert.strictEqual(status, 0);
});
