import { blocksOf, isText } from '../../messages/blocks';
import type { PlacedContent } from '../../messages/exchanges';
import { placeOf } from '../../messages/exchanges';
import { ruleFor, type ToolTable } from '../../messages/tools';
import type { CutRequest, Draft } from '../draft';
import type { DraftStep } from '../steps';
import { plural } from './describe';
import { exchangesOf } from './draftExchanges';
import { protectedFrom } from './protect';
import { linesOf, standingRuns } from './standingLines';

const ENVIRONMENT = /^<environment_details>[\s\S]*<\/environment_details>\s*$/;

/**
 * State that is sent again and again (FR-LC-004): of environment details and plans the latest stays whole; older ones
 * keep what differs from it. Which one is the latest changes as the conversation grows, so no marker calls it that.
 */
export const obsoleteState = (tools: ToolTable): DraftStep => {
  const name = 'Superseded state';
  return {
    name,
    async run(draft, pace) {
      for (const [what, contents] of [
        ['later environment details', environments(draft)],
        ['a later plan', plans(draft, tools)],
      ] as const) {
        const latest = contents.at(-1);
        if (!latest) continue;
        const standing = linesOf(latest.text);
        // From the back, so that slices of one string keep their offsets.
        for (const content of contents.slice(0, -1).toReversed()) {
          const requests: CutRequest[] = standingRuns(content.text, standing).map((run) => ({
            start: content.start + run.start,
            end: content.start + run.end,
            marker: `${plural(run.lines)} as in ${what}`,
          }));
          draft.cut(name, placeOf(content), requests, {
            contentType: content.type,
            reason: `superseded by ${what}`,
            strict: true,
          });
          await pace.breathe();
        }
      }
    },
  };
};

/** Environment details that Roo and Cline put at the end of each turn. */
function environments(draft: Draft): PlacedContent[] {
  const contents: PlacedContent[] = [];
  draft.messages.forEach((message, index) => {
    if (message.role !== 'user') return;
    blocksOf(message).forEach((block, at) => {
      if (!isText(block) || !ENVIRONMENT.test(block.text)) return;
      const { text } = block;
      const content: PlacedContent = {
        type: 'messageText',
        message: index,
        path: ['content', at, 'text'],
        start: 0,
        end: text.length,
        text,
      };
      if (!protectedFrom(draft, content)) contents.push(content);
    });
  });
  return contents;
}

/** Plans sent as one text (Roo's `todos`); plans sent as lists of short strings have nothing to shorten. */
function plans(draft: Draft, tools: ToolTable): PlacedContent[] {
  return exchangesOf(draft)
    .filter((exchange) => ruleFor(tools, exchange.tool)?.kind === 'plan' && !exchange.isError)
    .flatMap((exchange) => exchange.parameters.filter((content) => content.text.includes('\n')));
}
