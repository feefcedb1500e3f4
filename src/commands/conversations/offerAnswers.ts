import type { Memento } from 'vscode';
import * as z from 'zod';
import type { OfferAnswer } from '../../giveBack/idleTask';

const KEY = 'contextCondenser.idleTasks';

/** The newest answers stay; asking about a task again after so long does no harm. */
const MAX_ANSWERS = 500;

const answersSchema = z.array(z.tuple([z.string(), z.union([z.number(), z.literal('never')])]));

/** Users' answers about idle tasks, by path, in all windows. Anything else that is stored there counts as nothing. */
export function offerAnswers(state: Memento): ReadonlyMap<string, OfferAnswer> {
  return new Map(answersSchema.safeParse(state.get(KEY)).data ?? []);
}

/** @param answer undefined: the task may be offered at any size again. */
export async function answerOffer(state: Memento, path: string, answer: OfferAnswer | undefined): Promise<void> {
  const answers = new Map(offerAnswers(state));
  answers.delete(path);
  if (answer !== undefined) answers.set(path, answer);
  await state.update(KEY, [...answers].slice(-MAX_ANSWERS));
}
