import { listToolExchanges, type ToolExchange } from '../../messages/exchanges';
import { listFileChanges } from '../../messages/fileChanges';
import { listFileParts } from '../../messages/fileParts';
import { isSameFile } from '../../messages/filePath';
import { getToolRule, type ToolTable } from '../../messages/tools';
import type { ApiMessage } from '../../messages/types';

/**
 * Indexes of the last messages that quoted the line, wrote it to the file, or removed it; -1 for
 * none.
 */
export interface FileLineHistory {
  quotedAt: number;
  writtenAt: number;
  removedAt: number;
}

export interface FileUseHistory {
  /** Indexes of the messages that showed the file, in ascending order. */
  readonly shown: readonly number[];
  readonly changed: readonly number[];
  /** Index of the last message that showed or changed the file. */
  readonly touched: number;
  /** Index of the last message that wrote the whole file, or -1. */
  readonly written: number;
  /** History of each line, by trimmed line. */
  readonly lines: ReadonlyMap<string, FileLineHistory>;
}

const MIN_LINE_CHARS = 6;

interface MutableFileUseHistory {
  shown: number[];
  changed: number[];
  touched: number;
  written: number;
  lines: Map<string, FileLineHistory>;
}

export class ConversationFileHistory {
  private readonly files: MutableFileUseHistory[] = [];
  private readonly idByPath = new Map<string, number>();
  private readonly filesByName = new Map<string, { readonly path: string; readonly id: number }[]>();

  constructor(messages: readonly ApiMessage[], tools: ToolTable, exchanges = listToolExchanges(messages)) {
    for (const exchange of exchanges) this.addExchange(exchange, tools);
  }

  /** Undefined if no call showed or changed the file. */
  getFileUse(path: string): FileUseHistory | undefined {
    const id = this.getFileId(path, false);
    return id === undefined ? undefined : this.files[id];
  }

  private addExchange(exchange: ToolExchange, tools: ToolTable): void {
    const isRead = getToolRule(tools, exchange)?.kind === 'read';
    const shownFiles = new Set<MutableFileUseHistory>();
    for (const content of exchange.results) {
      for (const { path } of listFileParts(tools, exchange, content)) {
        const file = this.getOrCreateFileUse(path);
        if (!shownFiles.has(file)) file.shown.push(content.message);
        shownFiles.add(file);
        file.touched = Math.max(file.touched, content.message);
      }
    }
    if (isRead) return;
    const { callMessage } = exchange;
    for (const { path, before: linesBefore, after: linesAfter } of listFileChanges(tools, exchange)) {
      const file = this.getOrCreateFileUse(path);
      if (file.changed.at(-1) !== callMessage) file.changed.push(callMessage);
      file.touched = Math.max(file.touched, callMessage);
      if (linesBefore.length === 0 && !exchange.isError) file.written = callMessage;
      recordChangedLines(file.lines, linesBefore, linesAfter, callMessage, exchange.isError);
    }
  }

  private getOrCreateFileUse(path: string): MutableFileUseHistory {
    const id = this.getFileId(path, true) as number;
    return (this.files[id] ??= {
      shown: [],
      changed: [],
      touched: -1,
      written: -1,
      lines: new Map<string, FileLineHistory>(),
    });
  }

  /** Agents write the same path from the root or from the workspace, with either slash. */
  private getFileId(path: string, isNew: boolean): number | undefined {
    const knownId = this.idByPath.get(path);
    if (knownId !== undefined) return knownId;
    const name = path.slice(path.search(/[^\\/]*[\\/]*$/)).toLowerCase();
    const namesakes = this.filesByName.get(name) ?? [];
    const knownNamesake = namesakes.find((other) => isSameFile(other.path, path));
    if (!knownNamesake && !isNew) return undefined;
    const id = knownNamesake?.id ?? this.files.length;
    if (!knownNamesake) this.filesByName.set(name, [...namesakes, { path, id }]);
    this.idByPath.set(path, id);
    return id;
  }
}

function recordChangedLines(
  lines: Map<string, FileLineHistory>,
  linesBefore: readonly string[],
  linesAfter: readonly string[],
  message: number,
  isError: boolean,
): void {
  const getLineHistory = (line: string): FileLineHistory | undefined => {
    if (line.length < MIN_LINE_CHARS) return undefined;
    let history = lines.get(line);
    if (!history) lines.set(line, (history = { quotedAt: -1, writtenAt: -1, removedAt: -1 }));
    return history;
  };
  const oldLines = new Set(linesBefore.map((line) => line.trim()));
  const newLines = new Set(linesAfter.map((line) => line.trim()));
  for (const line of oldLines) {
    const history = getLineHistory(line);
    if (!history) continue;
    history.quotedAt = message;
    if (!isError && !newLines.has(line)) history.removedAt = message;
  }
  if (isError) return;
  for (const line of newLines) {
    const history = oldLines.has(line) ? undefined : getLineHistory(line);
    if (history) history.writtenAt = message;
  }
}
