/** What a summary of a range holds without a model: the facts, and what people wrote. */
import { DEFAULT_TOOLS } from '../../messages/tools';
import type { Draft } from '../draft/draft';
import type { MessageRange } from '../../messages/messageRange';
import { factsOf, renderFactSheet, type Facts } from './factSheet';
import type { NativeConfig } from './nativeConfig';

/** Share of what a summary takes the place of that people's own words may fill: beyond it little would be gained. */
const MAX_WORDS = 0.5;

/** The fact sheet of a range as Markdown; empty where there is nothing to tell. */
export function rangeFacts(
  { original, messages, counter }: Draft,
  { start, end }: MessageRange,
  { factTokens, keepUserMessages }: Pick<NativeConfig, 'factTokens' | 'keepUserMessages'>,
): string {
  if (factTokens === 0 && !keepUserMessages) return '';
  const facts = factsOf(original, DEFAULT_TOOLS, start, end);
  // Of what an earlier summary took in, that summary alone has a content.
  const replaced = counter.messages(messages.slice(start, end).filter(({ content }) => content.length > 0));
  const wordTokens = keepUserMessages ? Math.floor(replaced * MAX_WORDS) : 0;
  return renderFactSheet(factTokens === 0 ? wordsAlone(facts) : facts, counter, factTokens, wordTokens);
}

const wordsAlone = ({ instructions }: Facts): Facts => ({
  instructions,
  files: [],
  commands: [],
  errors: [],
  plan: undefined,
});
