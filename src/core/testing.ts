import type { CutEdit, Edit } from './condense/edits/edits';
/** Short constructors of messages, which the core's tests share. */
import { findMarkers, makeMarker, removeMarkerRule, type ReferenceId } from './messages/markers';
import { markAnswersToTools } from './messages/personsAnswers';
import type { ApiMessage, Block, ToolResultContent } from './messages/types';

export const text = (value: string, fields: Record<string, unknown> = {}): Block => ({
  type: 'text',
  text: value,
  ...fields,
});

export const user = (...content: (string | Block)[]): ApiMessage => makeMessage('user', content);

export const assistant = (...content: (string | Block)[]): ApiMessage => makeMessage('assistant', content);

/** A single string becomes string content; several become text blocks. */
function makeMessage(role: ApiMessage['role'], content: readonly (string | Block)[]): ApiMessage {
  const [first] = content;
  if (content.length === 1 && typeof first === 'string') return { role, content: first };
  return { role, content: content.map((part) => (typeof part === 'string' ? text(part) : part)) };
}

export const call = (id: string, name: string, input: unknown = {}): Block => ({ type: 'tool_use', id, name, input });

export const result = (id: string, content?: ToolResultContent, fields: Record<string, unknown> = {}): Block => ({
  type: 'tool_result',
  tool_use_id: id,
  ...(content === undefined ? {} : { content }),
  ...fields,
});

export const makeToolExchange = (
  id: string,
  name: string,
  input: unknown,
  content: ToolResultContent,
  fields: Record<string, unknown> = {},
): ApiMessage[] => [assistant(call(id, name, input)), user(result(id, content, fields))];

/** Creates an exchange whose result is a person's answer, as a format's reader marks it. */
export const makeAnsweredExchange = (
  id: string,
  name: string,
  input: unknown,
  content: string,
): readonly ApiMessage[] =>
  markAnswersToTools(new Set([name.toLowerCase()]), makeToolExchange(id, name, input, content));

/** Creates lines unique to a name, of about 8 tokens each. */
export const makeLines = (name: string, count: number): string =>
  Array.from({ length: count }, (_, index) => `${name} line ${index} with some words in it`).join('\n');

export const makeTestMarker = (what: string, reference = 'abcdef'): string =>
  makeMarker(what, reference as ReferenceId);

/** Shortens markers to their words: `[40 lines suppressed]`. */
export const shortenMarkers = (value: string): string =>
  findMarkers(value).reduceRight(
    (text, { start, end, what }) => `${text.slice(0, start)}[${removeMarkerRule(what)}]${text.slice(end)}`,
    value,
  );

/** Returns the cuts, the only edits that mechanical steps make. */
export const listCuts = (edits: readonly Edit[]): CutEdit[] => edits.filter((edit) => edit.kind === 'cut');

/** Returns this process's CPU time in milliseconds, which is independent of other load. */
export function readCpuMs(): number {
  const { user: own, system } = process.cpuUsage();
  return (own + system) / 1_000;
}

/** The time may include a garbage collection; for short work use {@link measureLeastCpuMs}. */
export function measureCpuMs(work: () => void): number {
  const cpuMsBefore = readCpuMs();
  work();
  return readCpuMs() - cpuMsBefore;
}

/** Returns the minimum CPU time of five runs in milliseconds. */
export const measureLeastCpuMs = (work: () => void): number =>
  Math.min(...Array.from({ length: 5 }, () => measureCpuMs(work)));
