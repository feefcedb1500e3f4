// In place of @vscode/spdlog, VS Code's native log writer, so that code-server needs no compiler: the same lines in the same
// files, without their rotation (a test's log is short).
const { closeSync, mkdirSync, openSync, writeSync } = require('node:fs');
const { dirname } = require('node:path');

/** By the numbers of spdlog's levels; 6 is off. */
const LEVELS = ['trace', 'debug', 'info', 'warning', 'error', 'critical'];

/** A local time as the only pattern that VS Code sets writes it: %Y-%m-%d %H:%M:%S.%e */
function timestamp() {
  const now = new Date();
  const local = new Date(now.getTime() - now.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, -1).replace('T', ' ');
}

class Logger {
  constructor(_type, _name, file) {
    this.level = 2;
    this.isPlain = false;
    mkdirSync(dirname(file), { recursive: true });
    this.file = openSync(file, 'a');
  }
  log(level, message) {
    if (level < this.level || this.file === undefined) return;
    writeSync(this.file, this.isPlain ? message : `${timestamp()} [${LEVELS[level]}] ${message}\n`);
  }
  trace(message) {
    this.log(0, message);
  }
  debug(message) {
    this.log(1, message);
  }
  info(message) {
    this.log(2, message);
  }
  warn(message) {
    this.log(3, message);
  }
  error(message) {
    this.log(4, message);
  }
  critical(message) {
    this.log(5, message);
  }
  getLevel() {
    return this.level;
  }
  setLevel(level) {
    this.level = level;
  }
  setPattern() {
    this.isPlain = false;
  }
  clearFormatters() {
    this.isPlain = true;
  }
  /** Every line is written at once. */
  flush() {}
  drop() {
    if (this.file !== undefined) closeSync(this.file);
    this.file = undefined;
  }
}

exports.version = 0;
exports.setLevel = () => {};
exports.setFlushOn = () => {};
exports.Logger = Logger;
exports.createRotatingLogger = async (name, file) => new Logger('rotating', name, file);
exports.createAsyncRotatingLogger = async (name, file) => new Logger('rotating_async', name, file);
