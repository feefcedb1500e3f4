import { blocksOf, isText } from '../../messages/blocks';
import { isEnvironment } from '../../messages/environment';
import { placeOf, type PlacedContent, type ToolExchange } from '../../messages/exchanges';
import { ruleFor, type ToolTable } from '../../messages/tools';
import type { ApiMessage, Block, TextBlock } from '../../messages/types';
import type { CutRequest } from '../draft/cuts';
import type { Draft } from '../draft/draft';
import type { DraftStep } from '../draft/steps';
import { plural } from './describe';
import { exchangesOf, protectedFrom } from '../draft/exchanges';
import { knownLinesOf, stepMemory } from './knownLines';
import { Groups } from './settled';
import { linesOf, standingRuns } from './standing';

/**
 * State that is sent again and again (FR-LC-004): of environment details and plans the latest stays whole; older ones
 * keep what differs from it. Which one is the latest changes as the conversation grows, so no marker calls it that.
 */
export const obsoleteState = (tools: ToolTable): DraftStep => {
  const name = 'Superseded state';
  return {
    name,
    async run(draft, pace) {
      const known = knownLinesOf(draft, tools);
      const work = function* (what: string, contents: readonly StateContent[]): Generator<number | undefined> {
        const standing = linesOf(contents.at(-1)?.content.text ?? '');
        // From the back, so that slices of one string keep their offsets.
        for (const { content, index } of contents.slice(0, -1).toReversed()) {
          const requests: CutRequest[] = standingRuns(content.text, standing).map((run) => ({
            start: content.start + run.start,
            end: content.start + run.end,
            marker: `${plural(run.lines)} as in ${what}`,
          }));
          const info = {
            contentType: content.type,
            operation: 'reference',
            reason: `superseded by ${what}`,
            strict: true,
          } as const;
          yield draft.cut(name, placeOf(content), requests, info) > 0 ? index : undefined;
        }
      };
      await environments(known).each(draft.messages, pace, ({ items, places }) =>
        work('later environment details', environmentsIn(draft, items, places)),
      );
      await plans(known).each(exchangesOf(draft), pace, ({ items }) =>
        work(
          'a later plan',
          items.flatMap((exchange, index) => plansIn(exchange).map((content) => ({ content, index }))),
        ),
      );
    },
  };
};

/** A text of the state, and which item of its group has it. */
interface StateContent {
  readonly content: PlacedContent;
  readonly index: number;
}

const isEnvironmentBlock = (block: Block): block is TextBlock => isText(block) && isEnvironment(block.text);

const environments = stepMemory(
  () =>
    new Groups<ApiMessage>((message) =>
      message.role === 'user' && blocksOf(message).some(isEnvironmentBlock) ? ['environment'] : [],
    ),
);

/** Environment details that Roo and Cline put at the end of each turn. */
const environmentsIn = (draft: Draft, items: readonly ApiMessage[], places: readonly number[]): StateContent[] =>
  items.flatMap((item, index) =>
    blocksOf(item).flatMap((block, at) => {
      if (!isEnvironmentBlock(block)) return [];
      const { text } = block;
      const message = places[index] as number;
      const path = ['content', at, 'text'];
      const content: PlacedContent = { type: 'messageText', message, path, start: 0, end: text.length, text };
      return protectedFrom(draft, content) ? [] : [{ content, index }];
    }),
  );

const plans = stepMemory(
  ({ tools }) =>
    new Groups<ToolExchange>((exchange) =>
      ruleFor(tools, exchange)?.kind === 'plan' && plansIn(exchange).length > 0 ? ['plan'] : [],
    ),
);

/** Plans sent as one text (Roo's `todos`); plans sent as lists of short strings have nothing to shorten. */
const plansIn = ({ isError, parameters }: ToolExchange): PlacedContent[] =>
  isError ? [] : parameters.filter((content) => content.text.includes('\n'));
