import type { Memento } from 'vscode';
import * as z from 'zod';
import type { OfferAnswer } from '../../giveBack/idleTask';

const KEY = 'contextCondenser.idleTasks';

/** What was said last stays; of tasks that nobody was asked about for so long a new question does no harm. */
const MAX_ANSWERS = 500;

const answersSchema = z.array(z.tuple([z.string(), z.union([z.number(), z.literal('never')])]));

/** What users said about idle tasks, by path, in all windows. Anything else that stands there counts as nothing. */
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
