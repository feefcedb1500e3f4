/**
 * The long task as a script: 120 tool calls over a project, then a question about the file that was read first, which the
 * model answers with what it recalls, and last a file that it writes with a marker in place of its text.
 */
import { bigTask, type BigTask } from '../generators/bigTask';
import { callsTool, reply, type Reply } from './behaviour';
import { resultOf, callId, scriptedAgent, type AgentTurn } from './scriptedAgent';
import type { RecordedRequest, ServerOptions } from './modelServer';

export const RECALL_TOOL = 'contextCondenser_recall';
export const TASK_PROMPT = 'Go through the whole project and put it in order.';
export const QUESTION = 'How many seconds is the grace period of the ledger, and who agreed to it?';
export const NOTES_PROMPT = 'Write the first file down again, as notes.';
export const DONE = 'The whole project is in order now.';

/** Input and output together, in the vendor's tokens. */
export const WINDOW = 100_000;
/** The vendor's tokens for one o200k token. */
export const TOKEN_FACTOR = 1.5;

export interface LongTask extends BigTask {
  readonly turns: readonly AgentTurn[];
  /** Where the notes are written. */
  readonly notes: string;
}

/** @param root the folder that the agent works in. */
export function longTask(root: string, calls?: number): LongTask {
  const task = bigTask(root, 7, calls);
  const notes = `${root}/notes.txt`;
  const readCall = callId(0, task.early.step);
  const work = task.steps.map((step): Reply => ({ ...callsTool(...step.calls), text: step.text }));
  return {
    ...task,
    notes,
    turns: [
      { prompt: TASK_PROMPT, steps: [...work, reply(DONE)] },
      {
        prompt: QUESTION,
        steps: [
          (request) =>
            callsTool({
              name: RECALL_TOOL,
              input: { references: [referenceIn(request, readCall)], maxTokens: 20_000 },
            }),
          (request) => reply(quoting(resultOf(request, callId(1, 0)) ?? '')),
        ],
      },
      {
        prompt: NOTES_PROMPT,
        steps: [
          (request) =>
            callsTool({
              name: 'create_file',
              input: { filePath: notes, content: `Notes:\n${markerIn(request, readCall)}\n` },
            }),
          reply('Written.'),
        ],
      },
    ],
  };
}

/** Options of a server that plays the task and is as strict as the vendor about its window. */
export const longTaskServer = ({ turns }: LongTask, countTokens: (text: string) => number): ServerOptions => ({
  script: scriptedAgent(turns),
  maxContextTokens: WINDOW,
  countTokens: (text) => Math.ceil(countTokens(text) * TOKEN_FACTOR),
});

const MARKER = /⟦condensed: [^⟦⟧]* · ref ([0-9a-f]+)⟧/;

/** The marker in what is left of a call's result. */
function markerIn(request: RecordedRequest, id: string): string {
  return MARKER.exec(resultOf(request, id) ?? '')?.[0] ?? 'there is no marker';
}

const referenceIn = (request: RecordedRequest, id: string): string =>
  MARKER.exec(markerIn(request, id))?.[1] ?? 'there is no reference';

/** The model's answer is the line that it was asked about. */
const quoting = (recalled: string): string =>
  /^.*LEDGER_GRACE_SECONDS.*$/m.exec(recalled)?.[0].trim() ?? 'I could not find it.';
