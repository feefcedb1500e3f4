/** `docs/BENCHMARKS.md`: the figures as a page. */
import { HEADLINE_COLUMNS, headlineCells, type HeadlineRow } from './headlineBench';
import type { PresetRow, Sized, SizedBench } from './presetsBench';
import type { Recall, RecallReport } from './recall';
import { millis, percent } from './table';

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

function markdown(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [row(head), row(head.map((_, at) => (at === 0 ? '---' : '--:'))), ...rows.map(row)].join('\n');
}

const dollars = (cost: number): string => (cost === 0 ? '–' : `$${cost.toFixed(2)}`);
const lost = ({ lines }: RecallReport): string => percent(1 - lines.verbatim.share);
const cell = ({ verbatim, recallable }: Recall): string => `${percent(verbatim.share)} → ${percent(recallable.share)}`;

const sized = (found: Sized | undefined): string[] =>
  found
    ? [
        found.target < 1 ? percent(found.target) : found.target.toLocaleString('en'),
        percent(found.recall.removed.share),
        lost(found.recall),
      ]
    : ['–', 'not reached', '–'];

/** All runs that called a model, whatever the preset. */
function estimatesText(presets: readonly PresetRow[]): string {
  const runs = presets.reduce((sum, { paidRuns }) => sum + paidRuns, 0);
  const close = presets.reduce((sum, { paidRuns, closeEstimates }) => sum + (paidRuns && paidRuns * closeEstimates), 0);
  return `Of all ${runs} runs that called a model the estimate of ${Math.round(close)} (${percent(close / runs)}) lay within 20 % of the cost.`;
}

export function benchmarksPage(
  presets: readonly PresetRow[],
  { rows, curve }: SizedBench,
  headline: readonly HeadlineRow[],
  of: string,
): string {
  const [first] = presets;
  return `# Benchmarks

Written by \`npm run bench:quality\`; do not edit. Measured on ${of}: ${first?.sessions ?? 0} sessions of twelve turns or
more, ${first?.cuts ?? 0} cuts; needed were ${first?.lines.needed ?? 0} lines, ${first?.names.needed ?? 0} identifiers,
${first?.paths.needed ?? 0} paths. The presets were tuned on the other half.

**Future-need recall**: a real session is cut at a turn and what stands before is condensed; of what the agent's next 20
turns use in tool parameters, that it had from there and was not shown again, which share still stands in the view word for
word, and which share can at least be recalled by a reference (behind the arrow)? Necessary, not sufficient: that a line
stands there doesn't prove that a model uses it. A line counts only where its own file shows it.

## Presets

As far as the configuration goes, without a target. The model of the summaries is scripted, with the prices of Claude Sonnet
4; it answers at once: to a single content with a quarter of its length, up to 1.5 times more or less, to a conversation with
1,300 to 2,700 tokens. The estimates learn from the runs before, as they do for a user. Processor time is
that in the middle of the runs, tokens being counted.

${markdown(
  [
    'preset',
    'tokens removed',
    'lines',
    'identifiers',
    'paths',
    "people's messages whole",
    'processor time',
    'calls',
    'estimated',
    'cost',
    'estimates within 20 %',
  ],
  presets.map((preset) => [
    preset.preset,
    percent(preset.removed.share),
    cell(preset.lines),
    cell(preset.names),
    cell(preset.paths),
    percent(preset.userMessages),
    millis(preset.cpuMs),
    preset.calls,
    dollars(preset.estimatedCost),
    dollars(preset.cost),
    preset.paidRuns === 0 ? '–' : `${percent(preset.closeEstimates)} of ${preset.paidRuns} runs`,
  ]),
)}

${estimatesText(presets)}

## File-Aware against the rules of other tools

The rules are written anew from their descriptions; what they take out is gone. File-Aware asks no model here, and all that
it takes out can be recalled. It is given a target, for no two rules take out the same: one number of tokens for all
conversations (as a target of the window is), or one share of each: the mildest that takes out at least what the rule does,
in steps of 500 tokens and of one percent. "Lines lost" are those that no longer stand in the view.

${markdown(
  [
    'rule',
    'removed',
    'lines lost',
    'target (tokens)',
    'removed',
    'lines lost',
    'target (share)',
    'removed',
    'lines lost',
  ],
  rows.map(({ rule, peer, absolute, share }) => [
    rule,
    percent(peer.removed.share),
    lost(peer),
    ...sized(absolute),
    ...sized(share),
  ]),
)}

The hardest comparison: each conversation is brought to the very size that the rule leaves of it, however unevenly the rule
treats them (a small session may keep next to nothing but what was written in it).

${markdown(
  ['rule', 'removed', 'lines lost', 'File-Aware removed', 'lines lost', 'can be recalled'],
  rows.map(({ rule, peer, matched }) => [
    rule,
    percent(peer.removed.share),
    lost(peer),
    percent(matched.removed.share),
    lost(matched),
    percent(matched.lines.recallable.share),
  ]),
)}

## File-Aware at each size

${markdown(
  ['target', 'tokens removed', 'lines', 'identifiers', 'paths'],
  curve.map(({ target, recall }) => [
    target < 1 ? percent(target) : `${target.toLocaleString('en')} tokens`,
    percent(recall.removed.share),
    cell(recall.lines),
    cell(recall.names),
    cell(recall.paths),
  ]),
)}

## The earlier design's headline figures

"Smart Provider: Pass-Based Context Condensation" gives three presets on three conversations. Neither its fixtures nor the code
that was measured are at hand, so these are generated conversations of those kinds and sizes, five of each (means), without a
target; the model answers with half to all of the tokens that it may. Where a figure differs, the old one could not be
reproduced: Conservative leaves all but results over 2,000 tokens alone, and few of the generated ones are that long; Aggressive
sums up nothing where its first pass has brought the conversation under 35,000 tokens.

${markdown(HEADLINE_COLUMNS, headlineCells(headline))}
`;
}
