import { getToolRule } from '../../messages/tools';
import type { CutRequest } from '../draft/cuts';
import type { ToolTable } from '../../messages/tools';
import { createResultStep, type ResultStepRule } from './resultStep';

const createTerminalNoiseRule = (tools: ToolTable): ResultStepRule => ({
  name: 'Terminal noise',
  reason: 'control sequences, overwritten progress, repeated lines',
  strict: false,
  findNoise: (exchange) => (getToolRule(tools, exchange)?.kind === 'command' ? findTerminalNoise : undefined),
});

/**
 * Removes control sequences, progress that a carriage return overwrote, trailing blanks, and
 * repeated equal lines.
 */
export const createTerminalNoiseStep = createResultStep(createTerminalNoiseRule);

/** Results of failed calls stay whole. */
export const createNewResultsNoiseStep = createResultStep((tools) => {
  const { findNoise, ...own } = createTerminalNoiseRule(tools);
  return { ...own, findNoise: (exchange) => (exchange.isError ? undefined : findNoise(exchange)) };
});

const ESCAPE_CHAR = '\u001b';
/** Control sequences (ECMA-48 CSI), operating system commands, and two-character escapes. */
const CONTROL_SEQUENCE = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b\n]{0,2000}(?:\u0007|\u001b\\)|[@-Z\\^_])/g;

const MIN_EQUAL_LINES = 3;

export function findTerminalNoise(text: string): CutRequest[] {
  const requests: CutRequest[] = [];
  let equalLines: { line: string; count: number; firstEnd: number } | undefined;
  let previousEnd = 0;
  const closeRun = (): void => {
    if (equalLines && equalLines.count > MIN_EQUAL_LINES && equalLines.line.trim() !== '') {
      // Removes the whole run, including noise found in its lines.
      const { firstEnd } = equalLines;
      while ((requests.at(-1)?.start ?? -1) > firstEnd) requests.pop();
      requests.push({ start: firstEnd + 1, end: previousEnd, marker: `the line above × ${equalLines.count - 1} more` });
    }
    equalLines = undefined;
  };
  for (let lineStart = 0; lineStart <= text.length;) {
    const newline = text.indexOf('\n', lineStart);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(lineStart, end);
    if (equalLines?.line !== line) {
      closeRun();
      equalLines = { line, count: 0, firstEnd: end };
    }
    equalLines.count++;
    if (equalLines.count <= MIN_EQUAL_LINES || equalLines.line.trim() === '') addNoiseOfLine(line, lineStart, requests);
    previousEnd = end;
    lineStart = end + 1;
  }
  closeRun();
  return requests;
}

export function renderTerminalLine(line: string): string {
  const cuts: CutRequest[] = [];
  addNoiseOfLine(line, 0, cuts);
  return cuts.reduceRight((text, { start, end }) => text.slice(0, start) + text.slice(end), line);
}

function addNoiseOfLine(line: string, offset: number, requests: CutRequest[]): void {
  const addCut = (start: number, end: number): void => {
    requests.push({ start: offset + start, end: offset + end, marker: null });
  };
  const bodyEnd = line.endsWith('\r') ? line.length - 1 : line.length;
  const lastRedrawStart = bodyEnd > 0 ? line.lastIndexOf('\r', bodyEnd - 1) + 1 : 0;
  if (lastRedrawStart > 0) addCut(0, lastRedrawStart);
  const end = findEndWithoutSpace(line, lastRedrawStart);
  if (line.includes(ESCAPE_CHAR)) {
    for (const match of line.matchAll(CONTROL_SEQUENCE)) {
      if (match.index >= lastRedrawStart && match.index + match[0].length <= end)
        addCut(match.index, match.index + match[0].length);
    }
  }
  if (end < line.length) addCut(end, line.length);
}

function findEndWithoutSpace(line: string, start: number): number {
  let end = line.length;
  while (end > start && (line[end - 1] === ' ' || line[end - 1] === '\t' || line[end - 1] === '\r')) end--;
  return end;
}
