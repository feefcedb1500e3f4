import { getBlocks, isText } from '../../messages/blocks';
import { isEnvironmentDetails } from '../../messages/environment';
import { memoizeByObject } from '../../memoizeByObject';
import { getContentPlace, type PlacedContent, type ToolExchange } from '../../messages/exchanges';
import { getToolRule, type ToolTable } from '../../messages/tools';
import type { ApiMessage, Block } from '../../messages/types';
import type { CutRequest } from '../draft/cuts';
import type { Draft } from '../draft/draft';
import type { MechanicalStep } from '../draft/steps';
import { formatLineCount } from './describe';
import { isProtectedContent } from '../draft/exchanges';
import { getLineCache, createMemoryPerLineCache } from './knownLines';
import { ProcessedGroups } from './settled';
import { splitToLineSet, findSharedLineRanges } from './standing';

/**
 * Of repeatedly sent state, the latest stays whole and older copies keep what differs. No marker
 * says "latest", because that changes.
 */
export const createObsoleteStateStep = (tools: ToolTable): MechanicalStep => {
  const name = 'Superseded state';
  return {
    name,
    run(draft) {
      const lineCache = getLineCache(draft, tools);
      const replaceOldTexts = function* (
        newerText: string,
        contents: readonly RepeatedStateText[],
      ): Generator<number | undefined> {
        let laterLines: ReadonlySet<string> = splitToLineSet(contents.at(-1)?.content.text ?? '');
        // In reverse, so that slices of one string keep their offsets.
        for (const { content, index } of contents.slice(0, -1).toReversed()) {
          const requests: CutRequest[] = findSharedLineRanges(content.text, laterLines).map((run) => ({
            start: content.start + run.start,
            end: content.start + run.end,
            marker: `${formatLineCount(run.lines)} as in ${newerText}`,
          }));
          const editInfo = {
            contentType: content.type,
            operation: 'reference',
            reason: `superseded by ${newerText}`,
            strict: true,
          } as const;
          yield draft.cutText(name, getContentPlace(content), requests, editInfo) > 0 ? index : undefined;
          // A listing that contains only new entries adds to an earlier full listing.
          if (newerText === LATER_LISTING_TEXT) laterLines = new Set([...laterLines, ...splitToLineSet(content.text)]);
        }
      };
      getGroupsOfEnvironmentTexts(lineCache).forEachUnprocessedGroup(draft.messages, ({ items, indexes }) =>
        replaceOldTexts('later environment details', findTextsOfBlocks(draft, items, indexes, isEnvironmentBlock)),
      );
      getGroupsOfListingReminders(lineCache).forEachUnprocessedGroup(draft.messages, ({ key, items, indexes }) =>
        replaceOldTexts(
          LATER_LISTING_TEXT,
          findTextsOfBlocks(draft, items, indexes, (block) => getListingHeading(block) === key),
        ),
      );
      getGroupsOfPlanTexts(lineCache).forEachUnprocessedGroup(draft.exchanges, ({ items }) =>
        replaceOldTexts(
          'a later plan',
          items.flatMap((exchange, index) => findPlanParameters(exchange).map((content) => ({ content, index }))),
        ),
      );
    },
  };
};

interface RepeatedStateText {
  readonly content: PlacedContent;
  readonly index: number;
}

const isEnvironmentBlock = (block: Block): boolean => isText(block) && isEnvironmentDetails(block.text);

const getGroupsOfEnvironmentTexts = createMemoryPerLineCache(
  () =>
    new ProcessedGroups<ApiMessage>((message) =>
      message.role === 'user' && getBlocks(message).some(isEnvironmentBlock) ? ['environment'] : [],
    ),
);

const LATER_LISTING_TEXT = 'a later listing';

const getGroupsOfListingReminders = createMemoryPerLineCache(
  () =>
    new ProcessedGroups<ApiMessage>((message) => [
      ...new Set(getBlocks(message).flatMap((block) => getListingHeading(block) ?? [])),
    ]),
);

const REMINDER_TAG = '<system-reminder>\n';
const LISTING_REMINDER = /^<system-reminder>\n([^\n]{1,300}:)\n[\s\S]*<\/system-reminder>\s*$/;
const MIN_LISTED_LINES = 5;

const getListingHeading = memoizeByObject((block: Block): string | undefined => {
  const heading = isText(block) ? LISTING_REMINDER.exec(block.text)?.[1] : undefined;
  if (heading === undefined || !isText(block)) return undefined;
  return block.text.split('\n- ', MIN_LISTED_LINES + 1).length > MIN_LISTED_LINES ? heading : undefined;
});

/**
 * Roo and Cline add environment details to the end of each turn; Claude Code adds listings after a
 * prompt.
 */
const findTextsOfBlocks = (
  draft: Draft,
  items: readonly ApiMessage[],
  places: readonly number[],
  isState: (block: Block) => boolean,
): RepeatedStateText[] =>
  items.flatMap((item, index) =>
    getBlocks(item).flatMap((block, blockIndex) => {
      if (item.role !== 'user' || !isText(block) || !isState(block)) return [];
      const messageIndex = places[index] as number;
      const path = ['content', blockIndex, 'text'];
      const start = block.text.startsWith(REMINDER_TAG) ? REMINDER_TAG.length : 0;
      const text = block.text.slice(start);
      const content: PlacedContent = {
        type: 'messageText',
        message: messageIndex,
        path,
        start,
        end: block.text.length,
        text,
      };
      return isProtectedContent(draft, content) ? [] : [{ content, index }];
    }),
  );

const getGroupsOfPlanTexts = createMemoryPerLineCache(
  ({ tools }) =>
    new ProcessedGroups<ToolExchange>((exchange) =>
      getToolRule(tools, exchange)?.kind === 'plan' && findPlanParameters(exchange).length > 0 ? ['plan'] : [],
    ),
);

/** Roo's `todos` are one text; plans that are lists of short strings have nothing to shorten. */
const findPlanParameters = ({ isError, parameters }: ToolExchange): PlacedContent[] =>
  isError ? [] : parameters.filter((content) => content.text.includes('\n'));
