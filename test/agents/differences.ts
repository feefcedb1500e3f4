/** Differences between what agents send and what we read of their sessions that are right as they are, each with its source. */
import type { Difference, SentText } from './texts';

interface Explanation {
  readonly agents: readonly string[];
  readonly what: readonly Difference['what'][];
  readonly kind?: SentText['kind'];
  /** Of the text that was sent, else of the one that was read. */
  readonly text: RegExp;
  readonly why: string;
  readonly source: string;
}

const DIFFERENCES: readonly Explanation[] = [
  {
    agents: ['claude'],
    what: ['cut'],
    kind: 'result',
    text: /\n<system-reminder>\n/,
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
    agents: ['kilo'],
    what: ['missing'],
    kind: 'text',
    text: /^\s*<environment_details>[^]*<\/environment_details>\s*$/,
    why: 'The time and the folder are added to the request, and not stored.',
    source: 'requests of 7.7.7, and the parts in its database',
  },
];

/** @returns why the difference is right, or undefined */
export function explanationFor(agent: string, { what, sent, read }: Difference): string | undefined {
  const one = sent ?? read;
  return DIFFERENCES.find(
    (row) =>
      row.agents.includes(agent) &&
      row.what.includes(what) &&
      (row.kind === undefined || row.kind === one?.kind) &&
      row.text.test(one?.text ?? ''),
  )?.why;
}
