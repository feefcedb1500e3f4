// In place of @vscode/native-watchdog, so that code-server needs no compiler. VS Code's extension host itself looks each second
// whether its parent lives; the native module looks once more, from a thread, for the case that the host is in an endless loop.
// Here the runner ends the whole process group (test/e2e/workbench/processes.ts).
exports.start = () => {};
exports.exit = (code) => process.exit(code ?? 0);
