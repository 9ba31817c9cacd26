"use strict";
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = function () {
  const command = workspace.getConfiguration("wirerate").get("path");
  client = new LanguageClient("wirerate", "wirerate", { command, args: ["lsp"] }, {
    documentSelector: [{ language: "wirerate-conf" }],
    synchronize: { configurationSection: "wirerate", fileEvents: workspace.createFileSystemWatcher("**/*") },
  });
  return client.start();
};

exports.deactivate = () => client && client.stop();
