"use strict";
// The extension itself, with stand-ins for the editor and its client: what it
// starts, for which files, and that it stops it.
const assert = require("node:assert");
const fs = require("node:fs");
const Module = require("node:module");
const path = require("node:path");
const test = require("node:test");

const manifest = JSON.parse(fs.readFileSync(path.join(__dirname, "..", "package.json")));

test("activate starts the program of the settings, deactivate stops it", async () => {
  const made = [];
  class LanguageClient {
    constructor(...args) { made.push(args); this.state = "new"; made.client = this; }
    async start() { this.state = "started"; }
    async stop() { this.state = "stopped"; }
  }
  const standIns = {
    vscode: { workspace: {
      getConfiguration: (section) => ({ get: (key) => section + "." + key === "wirerate.path" ? "/opt/wirerate" : undefined }),
      createFileSystemWatcher: (glob) => ({ glob }),
    } },
    "vscode-languageclient/node": { LanguageClient },
  };
  const load = Module._load;
  Module._load = (name, ...rest) => standIns[name] || load(name, ...rest);
  try {
    const extension = require(path.join(__dirname, "..", manifest.main));
    await extension.activate();
    const [id, , server, client] = made[0];
    assert.strictEqual(id, "wirerate");
    assert.deepStrictEqual(server, { command: "/opt/wirerate", args: ["lsp"] });
    assert.deepStrictEqual(client.documentSelector.map((s) => s.language), manifest.contributes.languages.map((l) => l.id));
    assert.strictEqual(client.synchronize.configurationSection, "wirerate");
    assert.strictEqual(made.client.state, "started");
    await extension.deactivate();
    assert.strictEqual(made.client.state, "stopped");
  } finally {
    Module._load = load;
  }
});
