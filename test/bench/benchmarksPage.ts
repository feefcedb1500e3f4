/** Writes `docs/research/benchmarks.md`. */
import { HEADLINE_COLUMNS, headlineCells, type HeadlineRow } from './headlineBench';
import type { SizedResult, SizedBench } from './peersBench';
import type { Retention, RetentionReport } from './retention';
import { formatMarkdownTable, millis, percent } from './table';
import type { ChoiceRow } from './choicesBench';

/** Shares count as equal if they differ by at most five percentage points. */
const MAX_EQUAL_DIFFERENCE = 0.05;

/** Formats US dollars, with a dash if nothing was paid. */
const dollars = (cost: number): string => (cost === 0 ? '–' : `$${cost.toFixed(3)}`);
const formatLostShare = ({ lines }: RetentionReport): string => percent(1 - lines.verbatim.share);
const cell = ({ verbatim, recallable }: Retention): string =>
  `${percent(verbatim.share)} → ${percent(recallable.share)}`;

const formatSizedResult = (found: SizedResult | undefined): string[] =>
  found
    ? [
        found.target < 1 ? percent(found.target) : found.target.toLocaleString('en'),
        percent(found.retention.removed.share),
        formatLostShare(found.retention),
      ]
    : ['–', 'not reached', '–'];

/** Counts all runs that called a model, with any provider. */
function estimatesText(choices: readonly ChoiceRow[]): string {
  const runs = choices.reduce((sum, { paidRuns }) => sum + paidRuns, 0);
  const closeEstimateCount = choices.reduce(
    (sum, { paidRuns, closeEstimates }) => sum + (paidRuns && paidRuns * closeEstimates),
    0,
  );
  return `${runs} runs called a model. In ${Math.round(closeEstimateCount)} of them (${percent(closeEstimateCount / runs)}) the estimate was within 20 % of the cost.`;
}

/**
 * @param of a sentence that says which conversations were measured.
 * @param need the section about unseen projects, if there is one.
 */
export function benchmarksPage(
  choices: readonly ChoiceRow[],
  { rows, curve }: SizedBench,
  headline: readonly HeadlineRow[],
  of: string,
  need: string | undefined,
): string {
  const [first] = choices;
  return `# Benchmarks

Written by \`npm run bench:quality\`; do not edit. The same page for your own transcripts:

\`\`\`
npm run bench:quality -- --corpus FOLDER    # writes dist/benchmarks.md; changes nothing in FOLDER
\`\`\`

${of}
${first?.sessions ?? 0} of them have twelve turns or more and are measured, at ${first?.cuts ?? 0} cuts. After the cuts the agent needed ${first?.lines.needed ?? 0} lines, ${first?.names.needed ?? 0} identifiers and
${first?.paths.needed ?? 0} paths from before them.

## Method

- **Size**: o200k tokens of the messages, before and after.
- **Recall**: a session is cut at a turn, and everything before the cut is condensed. We then look at the agent's next 20 turns:
  which lines, identifiers and paths do their tool parameters use that stood before the cut and were not shown again after it?
  "Lines 50 % → 100 %" says that 50 % of those lines are still in the condensed conversation word for word, and that 100 % are
  there or can be fetched by a reference. A line counts only where its own file shows it.
  What Summary summarizes has no reference of its own; in VS Code's chat the agent can still search it with \`#recall\`.
- **Speed**: processor time of one run on this machine, median. Tokens are counted before. A model's time is not in it.
- **Cost**: the model is a script, and its prices are those of Claude Sonnet 4. It answers a request for one piece of content
  with about a quarter of that content's length (up to 1.5 times more or less), and a request for a whole conversation with 1,300
  to 2,700 tokens. Estimates learn from the runs before, as they do for a user.

**Limits.** That a needed line is still there does not prove that a model would use it: recall is a necessary condition, not a
sufficient one. The scripted summaries have a length but say nothing: a real model's summary would keep some of the lines that count
as lost here. Nothing here measures whether an agent solves more tasks. The sessions are few, and most come
from one Go project, on which the presets were made and which taught File-Aware its weights: other projects repeat less. What
File-Aware keeps of projects that it has not seen stands in a part of its own below.

## Every way to condense

Each runs with its default configuration, without a target: it removes as much as it can.

${formatMarkdownTable(
  [
    'way',
    'tokens removed',
    'lines',
    'identifiers',
    'paths',
    "people's messages kept whole",
    'processor time',
    'calls, all runs',
    'estimate, mean of a run',
    'cost, mean of a run',
    'estimates within 20 %',
  ],
  choices.map((choice) => [
    choice.choice,
    percent(choice.removed.share),
    cell(choice.lines),
    cell(choice.names),
    cell(choice.paths),
    percent(choice.userMessages),
    millis(choice.cpuMs),
    choice.calls,
    dollars(choice.estimatedCost / choice.cuts),
    dollars(choice.cost / choice.cuts),
    choice.paidRuns === 0 ? '–' : `${percent(choice.closeEstimates)} of ${choice.paidRuns} runs`,
  ]),
)}

${estimatesText(choices)}

${need === undefined ? '' : `${need}\n`}## File-Aware against the rules of other tools, on the sessions above

The rules were written anew from the descriptions of the tools that have them. What a rule removes is gone; what File-Aware
removes can be recalled. File-Aware calls no model here. "Lines lost" are needed lines that are no longer in the condensed
conversation.

To compare like with like, File-Aware is given a target, and we take the mildest one at which it removes at least as much as the
rule over all conversations together. The target is either one number of tokens for every conversation (in steps of 500), or one
share of each conversation (in steps of 1 %).

${formatMarkdownTable(
  [
    'rule',
    'removed by the rule',
    'lines lost by the rule',
    'target in tokens',
    'removed by File-Aware',
    'lines lost by File-Aware',
    'target as a share',
    'removed by File-Aware',
    'lines lost by File-Aware',
  ],
  rows.map(({ rule, peer, absolute, share }) => [
    rule,
    percent(peer.removed.share),
    formatLostShare(peer),
    ...formatSizedResult(absolute),
    ...formatSizedResult(share),
  ]),
)}

The hardest comparison: File-Aware must bring each single conversation to the size that the rule leaves of it. Some rules leave
next to nothing of a short session.

${formatMarkdownTable(
  [
    'rule',
    'removed by the rule',
    'lines lost by the rule',
    'removed by File-Aware',
    'lines lost by File-Aware',
    'lines there or recallable',
  ],
  rows.map(({ rule, peer, matched }) => [
    rule,
    percent(peer.removed.share),
    formatLostShare(peer),
    percent(matched.removed.share),
    formatLostShare(matched),
    percent(matched.lines.recallable.share),
  ]),
)}

## File-Aware with a target

The target is a number of tokens, or the share of each conversation that may stay.

${formatMarkdownTable(
  ['target', 'tokens removed', 'lines', 'identifiers', 'paths'],
  curve.map(({ target, retention }) => [
    target < 1 ? percent(target) : `${target.toLocaleString('en')} tokens`,
    percent(retention.removed.share),
    cell(retention.lines),
    cell(retention.names),
    cell(retention.paths),
  ]),
)}

## Figures of the specification

The specification (docs/requirements.md) claims figures for three presets on three conversations. Neither those conversations
nor the code that was measured are available. So these are generated conversations of the same kinds
and sizes, five of each; the table shows means. No target was set. The model is a script that answers with half to all of the
tokens it was asked for.

${headlineNote(headline)}

${formatMarkdownTable(HEADLINE_COLUMNS, headlineCells(headline))}
`;
}

/** Says how many figures agree with the old ones. */
function headlineNote(headline: readonly HeadlineRow[]): string {
  const rowsNearOldFigure = headline.filter(
    ({ before, after, old }) => Math.abs(1 - after / before - old) <= MAX_EQUAL_DIFFERENCE,
  );
  return `Within five percentage points of the old figure: ${rowsNearOldFigure.length} of ${headline.length}. The others could not be reproduced. Two reasons are known: Conservative
changes only results over 2,000 tokens, and few of the generated ones are that long; Aggressive summarizes nothing where its first
pass has already brought the conversation under 35,000 tokens.`;
}
