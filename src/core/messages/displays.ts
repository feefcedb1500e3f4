/**
 * Files and listings that Claude Code shows the model as if a call had returned them, such as
 * @-mentioned files. Source: Claude Code (npm, 2.1.332, renderers of `file`, `directory` and
 * `edited_text_file`), which puts each text between `<system-reminder>` tags.
 */
import { memoizeByObject } from '../memoizeByObject';
import type { Slice } from '../slice';
import { getBlocks, isRecord, isText } from './blocks';
import { isAddedByAgent } from './task';
import type { ApiMessage } from './types';

export interface DisplayedToolResult extends Slice {
  readonly block: number;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

const WRAPPED_REMINDER_TEXT = /^<system-reminder>\n[\s\S]*<\/system-reminder>\s*$/;
const REMINDER_START = '(?:<system-reminder>\\n)?';
const REMINDER_END = /\n?<\/system-reminder>\s*$/;
const DISPLAYED_CALL = new RegExp(
  `^${REMINDER_START}Called the (\\w+) tool with the following input: (\\{.*\\})$`,
  'm',
);
const DISPLAYED_RESULT = new RegExp(`^${REMINDER_START}Result of calling the (\\w+) tool:[ ]?\\n`, 'm');
const DISPLAYED_CHANGE = new RegExp(
  `^${REMINDER_START}Note: ([^\\n]+?) (?:changed on disk|was modified)[^\\n]*\\(shown with line numbers\\):\\n`,
);

export const listDisplayedResultsInMessage = memoizeByObject((message: ApiMessage): readonly DisplayedToolResult[] => {
  if (message.role !== 'user') return NO_DISPLAYED_RESULTS;
  const displays: DisplayedToolResult[] = [];
  let lastCall: Pick<DisplayedToolResult, 'tool' | 'input'> | undefined;
  getBlocks(message).forEach((block, blockIndex) => {
    if (!isText(block) || !(isAddedByAgent(message) || WRAPPED_REMINDER_TEXT.test(block.text))) return;
    const { text } = block;
    lastCall = parseDisplayedCall(text) ?? lastCall;
    const change = DISPLAYED_CHANGE.exec(text);
    const result = change ?? DISPLAYED_RESULT.exec(text);
    const call = change ? { tool: 'Read', input: { file_path: change[1] } } : lastCall;
    if (!result || !call || (!change && call.tool !== result[1])) return;
    const start = result.index + result[0].length;
    const end = text.startsWith('<') ? text.length - (REMINDER_END.exec(text)?.[0].length ?? 0) : text.length;
    if (end > start) displays.push({ ...call, block: blockIndex, start, end });
    lastCall = undefined;
  });
  return displays.length === 0 ? NO_DISPLAYED_RESULTS : displays;
});

const NO_DISPLAYED_RESULTS: readonly DisplayedToolResult[] = [];

function parseDisplayedCall(text: string): Pick<DisplayedToolResult, 'tool' | 'input'> | undefined {
  const [, tool, json] = DISPLAYED_CALL.exec(text) ?? [];
  if (tool === undefined || json === undefined) return undefined;
  try {
    const input: unknown = JSON.parse(json);
    return isRecord(input) ? { tool, input } : undefined;
  } catch {
    return undefined;
  }
}
