/**
 * Lists the expected differences between agents' requests and our reading of their sessions. Each
 * has its source.
 */
import { stripClineWrappers } from '../../src/conversations/write/clineInput';
import type { Difference, SentText } from './texts';

interface Explanation {
  readonly agents: readonly string[];
  readonly what: readonly Difference['what'][];
  readonly kind?: SentText['kind'];
  /** Matches the sent text or, if there is none, the text that was read. */
  readonly text: RegExp;
  readonly why: string;
  readonly source: string;
  /** True if the same text must also occur elsewhere. */
  readonly isTwice?: boolean;
  /** True if the agent derives the sent text from the stored one. */
  readonly isDerivedFrom?: (sent: string, read: string) => boolean;
}

const KNOWN_DIFFERENCES: readonly Explanation[] = [
  {
    agents: ['claude'],
    what: ['cut'],
    kind: 'result',
    text: /<system-reminder>\n/,
    why: 'A reminder that stands behind a result is sent at the end of the text of that result; the records have it apart.',
    source: 'requests of 2.1.332, and the records of the same session',
  },
  {
    agents: ['claude'],
    what: ['missing'],
    kind: 'thinking',
    text: /^/,
    why: 'Thinking is asked for without its text; only its signature is stored and sent back.',
    source: 'thinking.display "omitted" in requests of 2.1.332; our vendor answers with the text all the same',
  },
  {
    agents: ['claude'],
    what: ['changed'],
    kind: 'text',
    text: /^The user sent a new message while you were working:\n/,
    why: 'Claude Code puts sentences of its own around words typed in mid-turn; what is read are the words of the person.',
    source: 'requests of 2.1.332, and its queued_command records',
    isDerivedFrom: (sent, read) => sent.includes(read),
  },
  {
    agents: ['copilot'],
    what: ['extra'],
    kind: 'thinking',
    text: /^/,
    why: 'Reasoning is stored, and not sent again after the session is resumed.',
    source: 'requests of 1.0.102 in its second process',
  },
  {
    agents: ['gemini'],
    what: ['extra'],
    kind: 'thinking',
    text: /^/,
    why: 'Thoughts are stored, and not sent again.',
    source: 'requests of 0.61.0',
  },
  {
    agents: ['gemini'],
    what: ['missing'],
    kind: 'result',
    text: /^/,
    why: 'Each result is sent twice after a session is resumed; a call has one result.',
    source: 'requests of 0.61.0 in its second process, and the messages that it then stores',
    isTwice: true,
  },
  {
    agents: ['gemini'],
    what: ['extra'],
    kind: 'call',
    text: /touch running\.txt/,
    why: 'A call that was interrupted is stored without a result, and left out of requests after the session is resumed.',
    source: 'requests of 0.61.0 in its second process',
  },
  {
    agents: ['qwen'],
    what: ['missing'],
    kind: 'text',
    text: /^\s*<system-reminder>\n(?:The following (?:skills|tools) are|This is the Qwen Code\.|The current date is:)/,
    why: 'What each process begins with is made anew, and not stored.',
    source: 'requests of 0.24.4, and its chats, in which none of these words stand',
  },
  {
    agents: ['cline'],
    what: ['changed'],
    kind: 'text',
    text: /^/,
    why: 'A prompt is stored between tags that are taken off before it is sent.',
    source: 'requests of 3.0.65; cline/cline, sdk/packages/shared, formatDisplayUserInput',
    isDerivedFrom: (sent, read) => stripClineWrappers(read) === sent,
  },
  {
    agents: ['copilot', 'pi', 'opencode', 'kilo'],
    what: ['missing'],
    kind: 'result',
    text: /^(?:No result provided|\[Tool execution was interrupted\]|The execution of this tool, or a previous tool was interrupted\.)$/,
    why: 'A call that was interrupted is stored without a result; the agent answers it in the request.',
    source: 'requests of Copilot CLI 1.0.102, Pi 1.6.0 and OpenCode 1.18.33; their sessions have none of these words',
  },
  {
    agents: ['kilo'],
    what: ['missing'],
    kind: 'text',
    text: /^\s*<environment_details>[^]*<\/environment_details>\s*$/,
    why: 'The time and the folder are added to the request, and not stored.',
    source: 'requests of 7.7.7, and the parts in its database',
  },
];

/**
 * @param all the texts of the conversation
 * @returns why the difference is right, or undefined
 */
export function findExplanation(
  agent: string,
  { what, sent, read }: Difference,
  all: readonly SentText[],
): string | undefined {
  const comparedText = sent ?? read;
  return KNOWN_DIFFERENCES.find(
    (row) =>
      row.agents.includes(agent) &&
      row.what.includes(what) &&
      (row.kind === undefined || row.kind === comparedText?.kind) &&
      row.text.test(comparedText?.text ?? '') &&
      (row.isTwice !== true ||
        all.some(({ kind, text }) => kind === comparedText?.kind && text === comparedText.text)) &&
      (row.isDerivedFrom === undefined || row.isDerivedFrom(sent?.text ?? '', read?.text ?? '')),
  )?.why;
}

interface AccountDifference {
  readonly agent: string;
  readonly wire?: string;
  readonly part: RegExp;
  /** The fields that may differ. Default: all. */
  readonly fields?: readonly string[];
  readonly why: string;
}

/** Known gaps in an agent's records compared with its vendor's requests. */
const KNOWN_ACCOUNT_DIFFERENCES: readonly AccountDifference[] = [
  {
    agent: 'gemini',
    part: /^compaction/,
    fields: ['requests', 'input', 'output', 'cost'],
    why: 'compressions are recorded nowhere (chatRecordingService.ts)',
  },
  {
    agent: 'gemini',
    part: /^subagent$/,
    why: 'as it begins a new session, 0.61 deletes the file of the one before, which was compressed',
  },
  {
    agent: 'pi',
    part: /^compaction by hand$/,
    fields: ['requests'],
    why: 'the two summaries of a turn that is split are written down as one, with the sum of both (compaction.ts, combineUsage)',
  },
  {
    ...{ agent: 'qwen', wire: 'anthropic', part: /./ },
    fields: ['cacheWrite', 'cost'],
    why: 'what was written to Anthropic’s cache is recorded as input (ui_telemetry)',
  },
  {
    ...{ agent: 'continue', wire: 'chat', part: /^(?!compaction by hand)/ },
    fields: ['cacheRead', 'cost', 'requests'],
    why: 'GPT-5 goes by the Responses wire, of whose usage 1.5 keeps no cached tokens (openaiResponses.ts, mapUsage)',
  },
  {
    agent: 'continue',
    part: /^compaction by hand$/,
    why: 'with -p, 1.5 does not save the compacted session, nor what the summary took',
  },
  {
    agent: 'continue',
    part: /^compaction by itself$/,
    fields: ['requests', 'cost'],
    why: 'a compaction leaves the sum of the tokens alone, without their number of requests and their model',
  },
];

/** Returns why these fields may differ in a phase; undefined if they must not. */
export const findAccountExplanation = (
  agent: string,
  wire: string,
  part: string,
  fields: readonly string[],
): string | undefined =>
  KNOWN_ACCOUNT_DIFFERENCES.find(
    (each) =>
      each.agent === agent &&
      (each.wire ?? wire) === wire &&
      each.part.test(part) &&
      fields.every((field) => each.fields?.includes(field) !== false),
  )?.why;
