/**
 * Scripts a long task: the model makes 120 tool calls over a project, answers a question about the
 * first file by recalling it, and writes a file with a marker instead of its text.
 */
import { createHash } from 'node:crypto';
import { bigTask, type BigTask } from '../generators/bigTask';
import { callsTool, reply, type Reply } from './behaviour';
import type { RecordedRequest, ServerOptions } from './modelServer';
import { callId, findResult, scriptedAgent, type AgentTurn } from './scriptedAgent';
import { taskRequests } from './taskFigures';
import { findMarkers } from '../../src/core/messages/markers';

export const RECALL_TOOL = 'contextCondenser_recall';
export const TASK_PROMPT = 'Go through the whole project and put it in order.';
/** Returns the user message that starts a part of the task; parts count from 0. */
export const partPrompt = (part: number): string => (part === 0 ? TASK_PROMPT : `Please go on with part ${part + 1}.`);
/** The model's last text in every part but the last. */
export const PAUSE_ANSWER = 'Shall I go on?';
export const QUESTION = 'How many seconds is the grace period of the ledger, and who agreed to it?';
export const NOTES_PROMPT = 'Write the first file down again, as notes.';
export const DONE_ANSWER = 'The whole project is in order now.';
export const NOTES_WRITTEN_ANSWER = 'The notes are written.';

export const WINDOW_TOKENS = 100_000;
/** Maximum output tokens. */
export const MAX_OUTPUT = 8_000;
/** Number of vendor tokens per o200k token. */
export const TOKEN_FACTOR = 1.5;
/** Prices of Claude Sonnet in US dollars per million tokens. */
export const PRICES = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

export interface LongTask extends BigTask {
  readonly turns: readonly AgentTurn[];
  /** Index of the turn in which the question is asked. */
  readonly questionTurn: number;
  readonly notes: string;
}

/**
 * @param root the folder that the agent works in.
 * @param calls number of tool calls; with fewer than 120, the task is shorter but otherwise the
 *   same.
 * @param pauses steps before which the agent waits until the user sends {@link partPrompt}.
 */
export function longTask(root: string, calls?: number, pauses: readonly number[] = []): LongTask {
  const task = bigTask(root, 7, calls);
  const notesFile = `${root}/notes.txt`;
  const workSteps = task.steps.map((step): Reply => ({ ...callsTool(...step.calls), text: step.text }));
  const partTurns = [0, ...pauses].map((start, part): AgentTurn => {
    const lastReply = reply(part === pauses.length ? DONE_ANSWER : PAUSE_ANSWER);
    return { prompt: partPrompt(part), steps: [...workSteps.slice(start, pauses[part]), lastReply] };
  });
  const questionTurn = partTurns.length;
  const questionAsTurn: AgentTurn = {
    prompt: QUESTION,
    steps: [
      (request) => callsTool(...findMarkersInEarlyResult(request).map(({ reference }) => makeRecall(reference, 1))),
      (request) => {
        const laterRecalls = listFirstPieces(request, questionTurn).flatMap(({ reference, lines }) =>
          listLaterStartLines(lines).map((from) => makeRecall(reference, from)),
        );
        return laterRecalls.length > 0
          ? callsTool(...laterRecalls)
          : reply(findAnswer(listRecalledTexts(request, questionTurn).join('\n')));
      },
      (request) => reply(findAnswer(listRecalledTexts(request, questionTurn).join('\n'))),
    ],
  };
  const notesTurn: AgentTurn = {
    prompt: NOTES_PROMPT,
    steps: [
      (request) => {
        // The file's result may contain several markers.
        const markers = findMarkersInEarlyResult(request).map(({ marker }) => marker);
        const content = `Notes:\n${markers.join('\n')}\n`;
        return callsTool({ name: 'create_file', input: { filePath: notesFile, content } });
      },
      reply(NOTES_WRITTEN_ANSWER),
    ],
  };
  return { ...task, notes: notesFile, questionTurn, turns: [...partTurns, questionAsTurn, notesTurn] };
}

/** Options of a server that plays the task and rejects prompts longer than the window. */
export const longTaskServer = ({ turns }: LongTask, countTokens: (text: string) => number): ServerOptions => ({
  script: scriptedAgent(turns),
  maxContextTokens: WINDOW_TOKENS,
  countTokens: (text) => Math.ceil(countTokens(text) * TOKEN_FACTOR),
});

/** ID of the call that reads the file in question. */
const EARLY_CALL = callId(0, 1);

interface Marker {
  readonly marker: string;
  readonly reference: string;
}

/** Finds the markers in the condensed result that contained the early file. */
function findMarkersInEarlyResult(request: RecordedRequest): Marker[] {
  const text = findResult(request, EARLY_CALL) ?? '';
  return findMarkers(text).map(({ start, end, reference }) => ({ marker: text.slice(start, end), reference }));
}

/**
 * Number of lines per recall. It is limited because VS Code writes tool output longer than 8 KB to
 * a file (seen in 1.139).
 */
const LINES_PER_RECALL = 90;

const makeRecall = (reference: string, fromLine: number) => ({
  name: RECALL_TOOL,
  input: { references: [reference], fromLine, toLine: fromLine + LINES_PER_RECALL - 1 },
});

/** Lists the lines at which the second and later recalls of a content of this length start. */
const listLaterStartLines = (lines: number): number[] =>
  Array.from(
    { length: Math.max(0, Math.ceil(lines / LINES_PER_RECALL) - 1) },
    (_, index) => 1 + (index + 1) * LINES_PER_RECALL,
  );

interface RecalledPiece {
  readonly reference: string;
  readonly lines: number;
  readonly text: string;
}

/** Lists the results of a step's calls, without their first lines, `[ref …]`. */
function listPieces(request: RecordedRequest, turn: number, step: number): RecalledPiece[] {
  const pieces: RecalledPiece[] = [];
  for (;;) {
    const result = findResult(request, callId(turn, step, pieces.length));
    if (result === undefined) return pieces;
    const [head = '', reference = '', lines] = /^\[ref (\w+): [^\n]* of (\d+)\]\n/.exec(result) ?? [];
    pieces.push({ reference, lines: Number(lines ?? 0), text: result.slice(head.length) });
  }
}

const listFirstPieces = (request: RecordedRequest, turn: number): RecalledPiece[] => listPieces(request, turn, 0);

/** Returns one text for each recalled content, joined from the content's pieces. */
function listRecalledTexts(request: RecordedRequest, turn: number): string[] {
  const laterPieces = listPieces(request, turn, 1);
  return listFirstPieces(request, turn).map(({ reference, text }) =>
    [text, ...laterPieces.filter((piece) => piece.reference === reference).map((piece) => piece.text)].join('\n'),
  );
}

/** Finds the line that answers the question. */
const findAnswer = (text: string): string => /^.*LEDGER_GRACE_SECONDS.*$/m.exec(text)?.[0] ?? 'I could not find it.';

const computeHash = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Tells whether the last answer came from recalled text. */
export interface RecallProof {
  /** True if the request with the question contained the answer. */
  readonly wasInView: boolean;
  /** Hash of the early file's original content. */
  readonly original: string;
  /** Hash of the early file's content in the view, with markers replaced by recalled text. */
  readonly restored: string;
}

/** @param requests the conversation's requests, including those of the question. */
export function recallProof({ questionTurn }: LongTask, requests: readonly RecordedRequest[]): RecallProof {
  const conversationRequests = taskRequests(requests);
  const firstWithEarlyResult = conversationRequests.find((request) => findResult(request, EARLY_CALL) !== undefined);
  const hasResults = (request: RecordedRequest): boolean => findResult(request, callId(questionTurn, 0)) !== undefined;
  const questionRequest = conversationRequests[conversationRequests.findIndex(hasResults) - 1];
  const lastRequestWithResults = conversationRequests.findLast(hasResults);
  if (!firstWithEarlyResult || !questionRequest || !lastRequestWithResults)
    throw new Error('The question was not asked, or nothing was recalled.');
  const recalledTexts = listRecalledTexts(lastRequestWithResults, questionTurn);
  const restoredText = findMarkersInEarlyResult(questionRequest).reduce(
    (text, { marker }, index) => text.replace(marker, () => recalledTexts[index] ?? ''),
    findResult(questionRequest, EARLY_CALL) ?? '',
  );
  return {
    wasInView: JSON.stringify(questionRequest.body['messages']).includes('LEDGER_GRACE_SECONDS'),
    original: computeHash(findResult(firstWithEarlyResult, EARLY_CALL) ?? ''),
    restored: computeHash(restoredText),
  };
}
