/**
 * Scripts a model whose answer depends only on the request, so that retries, reloads, canceled
 * requests and other conversations don't change it.
 */
import type { Behaviour, Reply } from './behaviour';
import { objects, text, type Json } from './json';
import type { RecordedRequest } from './modelServer';

/** The answer, or a function that returns it for a request. */
export type AgentStep = Reply | ((request: RecordedRequest) => Reply);

/** The model's steps after a user message. */
export interface AgentTurn {
  /** Occurs only in this turn's user message. */
  readonly prompt: string;
  /** The model's answers; all but the last call tools. */
  readonly steps: readonly AgentStep[];
}

const CALL_ID = /^toolu_t(\d+)s(\d+)c\d+$/;

/** Returns a call's ID; turn, step and call count from 0. */
export const callId = (turn: number, step: number, call = 0): string => `toolu_t${turn}s${step}c${call}`;

/** Answers as scripted; requests outside all turns, such as for a title, get a one-word answer. */
export function scriptedAgent(turns: readonly AgentTurn[]): (request: RecordedRequest) => Behaviour {
  return (request) => {
    const nextPosition = nextStep(request, turns);
    const step = nextPosition && turns[nextPosition.turn]?.steps[nextPosition.step];
    if (!nextPosition || !step) return { kind: 'reply', text: 'Ok.' };
    const { calls, ...answer } = typeof step === 'function' ? step(request) : step;
    if (!calls) return answer;
    return {
      ...answer,
      calls: calls.map((call, index) => ({ ...call, id: callId(nextPosition.turn, nextPosition.step, index) })),
    };
  };
}

interface ScriptPosition {
  readonly turn: number;
  readonly step: number;
}

/**
 * If the newest message contains a prompt, its turn starts; otherwise the step follows the one
 * whose results the message contains.
 */
function nextStep({ body }: RecordedRequest, turns: readonly AgentTurn[]): ScriptPosition | undefined {
  const newestBlocks = listNewestBlocks(body);
  const newestTexts = newestBlocks.filter(({ type }) => type === 'text').map((block) => text(block['text']));
  const promptedTurn = turns.findLastIndex(({ prompt }) => newestTexts.some((said) => said.includes(prompt)));
  if (promptedTurn >= 0) return { turn: promptedTurn, step: 0 };
  for (const block of newestBlocks) {
    const [, turn, step] = CALL_ID.exec(text(block['tool_use_id'])) ?? [];
    if (turn !== undefined && step !== undefined) return { turn: Number(turn), step: Number(step) + 1 };
  }
  return undefined;
}

/** Lists the blocks of user messages after the last answer. */
function listNewestBlocks(body: Json): Json[] {
  const messages = objects(body['messages']);
  const newestMessages = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
  return newestMessages.flatMap(getBlocks);
}

export const getBlocks = ({ content }: Json): readonly Json[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : objects(content);

/** Returns the result of a call; undefined if the request lacks it. */
export function findResult({ body }: RecordedRequest, id: string): string | undefined {
  const block = objects(body['messages'])
    .flatMap(getBlocks)
    .find((each) => each['type'] === 'tool_result' && each['tool_use_id'] === id);
  return block && resultText(block);
}

const resultText = ({ content }: Json): string =>
  typeof content === 'string'
    ? content
    : objects(content)
        .map((part) => text(part['text']))
        .join('');
